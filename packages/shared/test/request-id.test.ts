import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { requestId, traceId } from '../src/request-id.ts'
import { createNonce, pageHeaders } from '../src/security.ts'

test('keeps an acceptable request id, and replaces any other', () => {
  for (const id of ['a', 'Trace_1-3', 'x'.repeat(64)]) equal(requestId(id), id)
  for (const other of ['', ' ', 'two words', 'a, b', 'a\nb', 'é', 'x'.repeat(65), ['a'], undefined])
    match(requestId(other), /^[0-9a-f]{32}$/)
})

test('the trace id of a traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  equal(traceId(`00-${trace}-00f067aa0ba902b7-01`), trace)
  for (const bad of ['', trace, `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`, undefined])
    equal(traceId(bad), undefined)
})

test('a page allows the scripts of its own nonce, which is never the same', () => {
  const [one, other] = [createNonce(), createNonce()]
  equal(one === other, false)
  match(one, /^[A-Za-z0-9+/]{24}$/)
  equal(pageHeaders(one)['content-security-policy'].includes(`'nonce-${one}' 'strict-dynamic'`), true)
})
