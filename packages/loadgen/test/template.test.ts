import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ResponseReader } from '@startgrid/wire/reader.ts'
import { ResponseTemplate } from '../src/template.ts'

const BUFFER = Buffer.allocUnsafeSlow(4096)
const WORDS = new Int32Array(BUFFER.buffer)

const RESPONSE = [
  'HTTP/1.1 200 OK',
  'date: Sat, 21 Nov 2026 03:52:07 GMT',
  'x-request-id: 123e4567-e89b-12d3-a456-426614174000',
  'Content-Length: 12',
  'connection: keep-alive',
  '',
  'Hello World!',
].join('\r\n')

function place(text: string): number {
  return BUFFER.write(text, 'latin1')
}

function learn(text: string, method = 'GET'): ResponseTemplate {
  const length = place(text)
  const reader = new ResponseReader(method)
  reader.read(BUFFER, 0, length)
  const template = new ResponseTemplate()
  template.miss(BUFFER, length, reader)
  return template
}

function matches(template: ResponseTemplate, text: string): boolean {
  return template.matches(WORDS, place(text))
}

test('a response that differs in skipped values and in the body matches', () => {
  const template = learn(RESPONSE)
  assert.deepEqual(template.response, { status: 200, bodyLength: 12 })
  assert.ok(matches(template, RESPONSE))
  assert.ok(
    matches(template, RESPONSE.replace('52:07', '53:18').replace('123e', 'ffff').replace('Hello', 'Adieu')),
  )
  assert.ok(matches(template, RESPONSE.replace('Hello', '\r\n\0\r\n')), 'any byte may stand in a body')
})

test('a response that differs in anything else does not', () => {
  const template = learn(RESPONSE)
  const others = {
    connection: RESPONSE.replace('keep-alive', 'close     '),
    'a line inside a value': RESPONSE.replace('123e4567-e89b-12d3-', '\r\nconnection: close'),
    'a byte more': `${RESPONSE}!`,
    'a byte less': RESPONSE.slice(0, -1),
  }
  for (const [what, text] of Object.entries(others)) assert.equal(matches(template, text), false, what)
})

test('with any other byte at any place: whatever matches, the reader reads alike', () => {
  const template = learn(RESPONSE)
  for (let at = 0; at < RESPONSE.length; at++) {
    for (let byte = 0; byte < 256; byte++) {
      const length = place(RESPONSE)
      BUFFER[at] = byte
      if (!template.matches(WORDS, length)) continue
      const reader = new ResponseReader()
      const read = reader.read(BUFFER, 0, length)
      const { complete, reusable, status, bodyLength } = reader
      assert.deepEqual([read, complete, reusable], [length, true, true])
      assert.deepEqual({ status, bodyLength }, template.response)
    }
  }
})

test('responses without a body are learnt, with a colon in the reason too; in chunks or before a close they are not', () => {
  const none = 'HTTP/1.1 204 a:b\r\n\r\n'
  assert.ok(matches(learn(none), none))
  assert.equal(matches(learn(none), none.replace('a:b', 'a:c')), false)
  const head = RESPONSE.slice(0, -12)
  assert.ok(matches(learn(head, 'HEAD'), head))
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'
  const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\na'
  for (const text of [chunked, closing]) assert.equal(matches(learn(text), text), false)
})

test('a changed shape is learnt after a few misses', () => {
  const template = learn(RESPONSE)
  const other = RESPONSE.replace('200', '404')
  let misses = 0
  while (!matches(template, other)) {
    const reader = new ResponseReader()
    template.miss(BUFFER, reader.read(BUFFER, 0, place(other)), reader)
    assert.ok(++misses < 10)
  }
  assert.equal(template.response.status, 404)
})
