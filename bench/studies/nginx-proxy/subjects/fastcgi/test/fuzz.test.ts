import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TEST_RUN } from '@startgrid/cli/test-run.ts'
import fc from 'fast-check'
import { Connection } from '../src/responder/connection.ts'
import type { Request } from '../src/responder/request.ts'
import { anyRecord, chunk, cuts, mutatedStream, sentRequest } from './support/arbitraries.ts'
import {
  BEGIN,
  begin,
  END,
  encode,
  encodePairs,
  GET_VALUES,
  PARAMS,
  readResponse,
  request,
  STDIN,
  STDOUT,
  variables,
  type WireRecord,
} from './support/records.ts'
import { RecordingWire } from './support/wire.ts'

/** Whatever comes, in whatever pieces: good requests are understood, and nothing else does any harm. */

const LIMITS = { params: 65_536, body: 65_536 }

/** A connection that responds to each request at once, by its target and body. */
function echo() {
  const wire = new RecordingWire()
  const received: Request[] = []
  const connection = new Connection(
    wire,
    (request, respond) => {
      received.push(request)
      respond(request.refusal ?? 200, {}, Buffer.concat([Buffer.from(request.url, 'latin1'), request.body]))
    },
    LIMITS,
  )
  return { wire, received, connection }
}

test('good requests in any records, padding and chunks are received as they were sent', () => {
  fc.assert(
    fc.property(fc.array(sentRequest, { minLength: 1, maxLength: 4 }), cuts, (sent, positions) => {
      const { wire, received, connection } = echo()
      const bytes = encode(...sent.flatMap(({ records }) => records))
      for (const part of chunk(bytes, positions)) connection.push(part)
      equal(received.length, sent.length)
      for (const [index, { pairs, body }] of sent.entries()) {
        deepEqual(received[index]?.params, new Map(pairs))
        deepEqual(received[index]?.body, Buffer.from(body))
      }
      const responses = splitResponses(wire.take())
      for (const [index, { id, body }] of sent.entries()) {
        const response = readResponse(responses[index] ?? [], id)
        deepEqual([response.status, response.body], [200, Buffer.concat([Buffer.from('/echo'), body])])
      }
    }),
    { numRuns: 300 },
  )
})

/** The records up to each END_REQUEST. */
function splitResponses(records: readonly WireRecord[]): WireRecord[][] {
  const responses: WireRecord[][] = [[]]
  for (const record of records) {
    responses.at(-1)?.push(record)
    if (record.type === END) responses.push([])
  }
  return responses
}

/** Gives the bytes to a new connection, and fails if what comes out is not FastCGI in good order. */
function survives(bytes: Buffer, positions: readonly number[]): void {
  const { wire, received, connection } = echo()
  for (const part of chunk(bytes, positions)) connection.push(part)
  const written = wire.take()
  const begun = count(bytes)
  ok(received.length <= begun, 'as many requests as begun at most')
  ok(written.filter(({ type }) => type === END).length <= begun, 'as many ends as begun at most')
  for (const response of splitResponses(written)) {
    const output = response.filter(({ type }) => type === STDOUT)
    // A whole response or none.
    if (output.length > 0)
      readResponse(
        response.filter(({ id }) => id !== 0),
        output[0]?.id ?? 0,
      )
  }
}

/** How often a BEGIN_REQUEST could start, wherever a record could. */
function count(bytes: Buffer): number {
  let begun = 0
  for (let at = bytes.indexOf(1); at !== -1; at = bytes.indexOf(1, at + 1))
    if (bytes[at + 1] === BEGIN) begun++
  return begun
}

/** The inputs of each run are other ones, so short runs add up. */
const DURATION = {
  numRuns: 1_000_000,
  interruptAfterTimeLimit: TEST_RUN.full ? 2_000 : 400,
  markInterruptAsFailure: false,
}

test('any bytes: never an error, never half a response', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), cuts, (bytes, positions) =>
      survives(Buffer.from(bytes), positions),
    ),
    DURATION,
  )
})

test('any records: never an error, never half a response', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 20 }), cuts, (records, positions) =>
      survives(encode(...records), positions),
    ),
    DURATION,
  )
})

test('good streams with bytes changed: never an error, never half a response', () => {
  fc.assert(fc.property(mutatedStream, cuts, survives), DURATION)
})

test('memory does not grow with what a peer sends', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const megabytes = () => {
    // The second waits for the first to have freed its array buffers, which it does in the background.
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 2 ** 20
  }
  const full = Buffer.alloc(65_535, 1)
  const small = Buffer.of(1)
  for (const [name, opening, repeated] of [
    ['params without end', encode(begin(1)), encode({ type: PARAMS, id: 1, content: full })],
    ['a body without end', encode(begin(1)), encode({ type: STDIN, id: 1, content: full })],
    [
      'params byte by byte',
      encode(begin(1)),
      encode(...Array.from({ length: 65 }, () => ({ type: PARAMS, id: 1, content: small }))),
    ],
    ['records of no request', Buffer.of(), encode({ type: STDIN, id: 9, content: full, padding: 255 })],
    ['refused requests', encode(begin(1)), encode(...request(2, variables('/')))],
    [
      'questions',
      Buffer.of(),
      encode({ type: GET_VALUES, id: 0, content: encodePairs([['FCGI_MPXS_CONNS', '']]) }),
    ],
  ] as const) {
    const { wire, connection } = echo()
    connection.push(opening)
    const before = megabytes()
    for (let turn = 0; turn < 1_000; turn++) {
      // Two halves, so that the parser has to keep one.
      connection.push(repeated.subarray(0, repeated.length >> 1))
      connection.push(repeated.subarray(repeated.length >> 1))
      wire.take()
    }
    const grown = megabytes() - before
    ok(grown < 1, `${name}: ${grown} MB more`)
    equal(wire.destroyed, false)
  }
})
