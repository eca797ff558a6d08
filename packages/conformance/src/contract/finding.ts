import { isDeepStrictEqual } from 'node:util'
import { methodOf, type Request } from '@startgrid/wire/request.ts'

/** One difference from the contract. */
export interface Finding {
  expected: string
  received: string
}

/** That something else came. */
export function differ(expected: string, received: string): Finding[] {
  return [{ expected, received }]
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
  return differ(`the JSON ${JSON.stringify(expected)}`, quote(body))
}

/** Compares byte for byte, and shows the first difference. */
export function compareBytes(expected: Buffer, received: Buffer): Finding[] {
  if (expected.equals(received)) return []
  const at = expected.findIndex((byte, index) => byte !== received[index])
  const first = at === -1 ? expected.length : at
  const from = Math.max(0, first - 40) // a little before
  return differ(
    `the body ${quote(expected.subarray(from))} (${expected.length} bytes)`,
    `${quote(received.subarray(from))} (${received.length} bytes), different from byte ${first} on`,
  )
}

/** The start of a body, for a reader. */
export function quote(bytes: Buffer): string {
  return `'${shorten(bytes.toString('utf8'))}'`
}

/** The request for a reader: one line, long values shortened. */
export function describeRequest(request: Request): string {
  const { headers = [], body } = request
  const parts = [`${methodOf(request)} ${shorten(request.target)}`]
  for (const [name, value] of headers) parts.push(`${name}: ${shorten(value)}`)
  if (body !== undefined) parts.push(`a body of ${Buffer.byteLength(body)} bytes`)
  return parts.join(', ')
}

/** Text on one line: what is not printable ASCII is escaped, what is long is cut. */
export function shorten(text: string, longest = 100): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
  return cut.replace(/[^\x20-\x7e…]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(4, '0')
    return { '\r': '\\r', '\n': '\\n' }[character] ?? `\\u${hex}`
  })
}
