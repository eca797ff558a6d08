import { equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createNonce, requestId } from '../../src/http/ids.ts'

test('keeps an acceptable request id', () => {
  for (const id of ['a', 'Trace_1.2-3', 'x'.repeat(64)]) equal(requestId(id), id)
})

test('replaces any other by one that is acceptable', () => {
  const others = [
    '',
    ' ',
    'two words',
    'a, b',
    'a\nb',
    'é',
    'x'.repeat(65),
    ['a'],
    ['a', 'b'],
    null,
    undefined,
  ]
  for (const other of others) {
    const id = requestId(other)
    notEqual(id, other)
    match(id, /^[0-9a-f]{32}$/)
  }
})

test('gives no request id and no nonce twice', () => {
  // More than fit into the pool of random bytes.
  const count = 1000
  equal(new Set(Array.from({ length: count }, () => requestId(undefined))).size, count)
  equal(new Set(Array.from({ length: count }, createNonce)).size, count)
})

test('a nonce is 18 bytes in base64', () => {
  match(createNonce(), /^[A-Za-z0-9+/]{24}$/)
})
