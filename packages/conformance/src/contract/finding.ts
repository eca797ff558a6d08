import { isDeepStrictEqual } from 'node:util'
import { shorten } from '../http/request.ts'

/** One difference from the contract. */
export interface Finding {
  expected: string
  received: string
}

/** The parsed body; undefined if it is not JSON. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Compares values: spaces and the order of members do not matter. */
export function compareJson(expected: unknown, body: Buffer): Finding[] {
  if (isDeepStrictEqual(readJson(body), expected)) return []
  return [{ expected: `the JSON ${JSON.stringify(expected)}`, received: quote(body) }]
}

/** Compares byte for byte, and shows the first difference. */
export function compareBytes(expected: Buffer, received: Buffer): Finding[] {
  if (expected.equals(received)) return []
  const at = expected.findIndex((byte, index) => byte !== received[index])
  const first = at === -1 ? expected.length : at
  return [
    {
      expected: `the body ${quote(expected.subarray(window(first)))} (${expected.length} bytes)`,
      received: `${quote(received.subarray(window(first)))} (${received.length} bytes), different from byte ${first} on`,
    },
  ]
}

/** Long bodies are shown from a little before the first difference. */
function window(first: number): number {
  return Math.max(0, first - 40)
}

/** The start of a body, for a reader. */
export function quote(bytes: Buffer): string {
  return `'${shorten(bytes.toString('utf8'))}'`
}
