import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProtocolError } from '../src/responder/record.ts'
import { RecordParser } from '../src/responder/record-parser.ts'
import { anyRecord, chunk, cuts } from './support/arbitraries.ts'
import { encode, type WireRecord } from './support/records.ts'

function parse(chunks: readonly Buffer[]): WireRecord[] {
  const records: WireRecord[] = []
  const parser = new RecordParser((type, id, content) =>
    records.push({ type, id, content: Buffer.from(content) }),
  )
  for (const bytes of chunks) parser.push(bytes)
  return records
}

/** Without the padding, which no reader sees. */
function plain(records: readonly WireRecord[]): WireRecord[] {
  return records.map(({ type, id, content }) => ({ type, id, content: Buffer.from(content) }))
}

test('any records, cut anywhere, are the same records', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 8 }), cuts, (records, positions) => {
      deepEqual(parse(chunk(encode(...records), positions)), plain(records))
    }),
    { numRuns: 300 },
  )
})

test('the largest record, cut at every byte', () => {
  const largest = { type: 5, id: 65_535, content: Buffer.alloc(65_535, 'x'), padding: 255 }
  const after = { type: 4, id: 1, content: Buffer.from('after') }
  deepEqual(parse(chunk(encode(largest, after), [])), plain([largest, after]))
})

test('a record that is not whole is not given', () => {
  const bytes = encode({ type: 4, id: 1, content: Buffer.from('params'), padding: 3 })
  for (let length = 0; length < bytes.length; length++) equal(parse([bytes.subarray(0, length)]).length, 0)
})

test('a chunk that is used again does not change what came before', () => {
  const record = { type: 4, id: 1, content: Buffer.from('a record in two halves') }
  const bytes = encode(record)
  const received: WireRecord[] = []
  const parser = new RecordParser((type, id, content) => received.push({ type, id, content }))
  const reused = Buffer.alloc(15)
  for (const half of [bytes.subarray(0, 15), bytes.subarray(15)]) {
    half.copy(reused)
    parser.push(reused.subarray(0, half.length))
  }
  deepEqual(received, [record])
})

test('another version than 1 is refused as soon as the header is there, cut or not', () => {
  for (const version of [0, 2, 0x47]) {
    const bytes = encode({ type: 1, id: 1, content: new Uint8Array() })
    bytes.writeUInt8(version, 0)
    throws(() => parse([bytes]), ProtocolError)
    throws(() => parse(chunk(bytes, [])), ProtocolError)
  }
})
