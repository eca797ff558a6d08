/** Name-value pairs: the content of PARAMS and GET_VALUES (section 3.4). */

/**
 * Reads pairs, as Latin-1 like the headers of `node:http`. A name that comes twice has both values joined by a comma: NGINX
 * before 1.23 passes on a header that comes twice as two pairs.
 * @returns undefined if a length points behind the end
 */
export function decodePairs(bytes: Buffer): Map<string, string> | undefined {
  const pairs = new Map<string, string>()
  // One call into C++, instead of two for each pair.
  const text = bytes.toString('latin1')
  let at = 0
  while (at < bytes.length) {
    const nameLength = readLength(bytes, at)
    at += lengthSize(bytes, at)
    const valueLength = readLength(bytes, at)
    at += lengthSize(bytes, at)
    const value = at + nameLength
    const end = value + valueLength
    if (end > bytes.length) return undefined
    add(pairs, text.slice(at, value), text.slice(value, end))
    at = end
  }
  return pairs
}

/** @param pairs names and values of at most 127 Latin-1 characters: what a responder says about itself is short */
export function encodePairs(pairs: ReadonlyMap<string, string>): Buffer {
  const parts = [...pairs].map(
    ([name, value]) => String.fromCharCode(name.length, value.length) + name + value,
  )
  return Buffer.from(parts.join(''), 'latin1')
}

function add(pairs: Map<string, string>, name: string, value: string): void {
  const before = pairs.get(name)
  pairs.set(name, before === undefined ? value : `${before}, ${value}`)
}

/** A length of 7 bits in one byte, or of 31 bits in four. @returns Infinity if it is cut off */
function readLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? Infinity
  if (first < 128) return first
  return at + 4 <= bytes.length ? bytes.readUInt32BE(at) - 2 ** 31 : Infinity
}

function lengthSize(bytes: Buffer, at: number): 1 | 4 {
  return (bytes[at] ?? 0) < 128 ? 1 : 4
}
