import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodePairs, encodePairs } from '../src/responder/pairs.ts'
import { pairs } from './support/arbitraries.ts'
import * as wire from './support/records.ts'

test('any pairs are read as they were written', () => {
  fc.assert(fc.property(pairs, (some) => deepEqual(decodePairs(wire.encodePairs(some)), new Map(some))))
})

test('lengths of one byte and of four, also where one would do', () => {
  const value = 'v'.repeat(127)
  const long = Buffer.concat([Buffer.of(0x80, 0, 0, 1, 127), Buffer.from(`n${value}`)])
  deepEqual(decodePairs(long), new Map([['n', value]]))
  for (const length of [0, 1, 127, 128, 65_000]) {
    const pair = ['NAME', 'v'.repeat(length)] as const
    deepEqual(decodePairs(wire.encodePairs([pair])), new Map([pair]))
  }
})

test('a name that comes twice has both values', () => {
  const twice = wire.encodePairs([
    ['HTTP_HOST', 'a'],
    ['X', ''],
    ['HTTP_HOST', 'b'],
  ])
  equal(decodePairs(twice)?.get('HTTP_HOST'), 'a, b')
})

test('a pair that is cut off is left out, wherever it is cut', () => {
  const bytes = wire.encodePairs([['NAME', 'v'.repeat(200)]])
  for (let length = 1; length < bytes.length; length++)
    equal(decodePairs(bytes.subarray(0, length)), undefined)
  // All 31 bits of a length count, up to 2 GiB.
  for (const high of [0x80, 0x81, 0xc0])
    equal(decodePairs(Buffer.of(high, 1, 0, 1, 1, 0x6e, 0x76)), undefined)
  equal(decodePairs(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])), undefined)
})

test('any bytes are pairs or none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      let length = 0
      for (const [name, value] of decodePairs(Buffer.from(bytes)) ?? []) length += name.length + value.length
      // Nothing is made up: at least the two lengths of a pair are not part of it, and they pay for the comma of a name that comes twice.
      return length <= bytes.length
    }),
    { numRuns: 1_000 },
  )
})

test('what is written is read back', () => {
  const some = new Map([
    ['FCGI_MPXS_CONNS', '0'],
    ['', ''],
  ])
  deepEqual(decodePairs(encodePairs(some)), some)
})
