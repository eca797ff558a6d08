/** What the servers send, for the tests that expect it. */

export const RIGHT = 'right body'
/** As long as the right one. */
export const WRONG = 'wrong body'

/** A body in which no two places far apart look alike. */
export function bodyOf(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + (at >> 8)) & 0xff))
}
