import fc from 'fast-check'
import { ABORT, BEGIN, encode, encodePairs, PARAMS, request, STDIN, type WireRecord } from './records.ts'

/** Latin-1 text, also just around the lengths where a pair needs more bytes for them. */
const text = fc
  .oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 30 }) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 126, maxLength: 130 }) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 300, maxLength: 1_000 }) },
  )
  .map((bytes) => Buffer.from(bytes).toString('latin1'))

export const pairs = fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 12 })

const id = fc.integer({ min: 1, max: 65_535 })
const padding = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 255 }))

/** Records of any kind that the format allows. */
export const anyRecord: fc.Arbitrary<WireRecord> = fc.record({
  type: fc.oneof(fc.integer({ min: 1, max: 11 }), fc.nat(255)),
  id: fc.oneof(fc.constantFrom(0, 1, 2), fc.nat(65_535)),
  content: fc.oneof(
    { weight: 9, arbitrary: fc.uint8Array({ maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom(255, 256, 65_535).map((size) => new Uint8Array(size)) },
  ),
  padding,
})

/** Positions to cut a stream at, as parts of its length; `chunk` uses them. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

/** The bytes in order, cut at the positions, or, without any, byte by byte. */
export function chunk(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const inner =
    positions.length === 0 ? [...bytes.keys()] : positions.map((part) => Math.floor(part * bytes.length))
  const ends = [...inner, bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

export interface SentRequest {
  id: number
  pairs: [string, string][]
  body: Uint8Array
  records: WireRecord[]
}

/** A good request whose streams are cut into padded records, interleaved, with records of no consequence in between. */
export const sentRequest: fc.Arbitrary<SentRequest> = fc
  .record({
    id,
    pairs,
    body: fc.uint8Array({ maxLength: 200 }),
    sizes: cuts,
    order: fc.infiniteStream(fc.boolean()),
    padding,
  })
  .map(({ id, pairs: more, body, sizes, order, padding: size }) => {
    const all: [string, string][] = [
      ['REQUEST_METHOD', 'POST'],
      ['REQUEST_URI', '/echo'],
      ['CONTENT_LENGTH', String(body.length)],
      ...more.filter(([name]) => !['REQUEST_METHOD', 'REQUEST_URI', 'CONTENT_LENGTH'].includes(name)),
    ]
    const cut = (type: number, content: Uint8Array): WireRecord[] => [
      // A record without content would end the stream.
      ...chunk(Buffer.from(content), sizes.length === 0 ? [0] : sizes)
        .filter((part) => part.length > 0)
        .map((part) => ({ type, id, content: part, padding: size })),
      { type, id, content: new Uint8Array(), padding: size },
    ]
    const streams = interleave(cut(PARAMS, encodePairs(all)), cut(STDIN, body), order)
    const begin = { type: BEGIN, id, content: Uint8Array.of(0, 1, 1, 0, 0, 0, 0, 0), padding: size }
    // Of another request that is not active: ignored (section 3.3).
    const stray = { type: ABORT, id: id === 1 ? 2 : 1, content: new Uint8Array() }
    return { id, pairs: all, body, records: [stray, begin, stray, ...streams] }
  })

function interleave<T>(first: readonly T[], second: readonly T[], order: Iterator<boolean>): T[] {
  const left = [...first]
  const right = [...second]
  const merged: T[] = []
  while (left.length > 0 || right.length > 0) {
    const next = right.length === 0 || (left.length > 0 && order.next().value) ? left.shift() : right.shift()
    if (next !== undefined) merged.push(next)
  }
  return merged
}

/** Good streams with bytes changed, removed, repeated or put in. */
export const mutatedStream: fc.Arbitrary<Buffer> = fc
  .record({
    requests: fc.array(
      fc.oneof(
        sentRequest.map(({ records }) => records),
        pairs.map((some) => request(1, some)),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
    changes: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        remove: fc.oneof(fc.constantFrom(0, 1), fc.nat(40)),
        insert: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 1 }), fc.uint8Array({ maxLength: 20 })),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })
  .map(({ requests, changes }) =>
    changes.reduce<Buffer>(
      (bytes, { at, remove, insert }) => {
        const from = Math.floor(at * bytes.length)
        return Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)])
      },
      encode(...requests.flat()),
    ),
  )
