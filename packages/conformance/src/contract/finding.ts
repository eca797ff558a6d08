import { isDeepStrictEqual } from 'node:util'
import { methodOf, type Request } from '@startgrid/wire/request.ts'

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
  return cut.replace(/[^\x20-\x7e…]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
