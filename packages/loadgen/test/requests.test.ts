import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { Requests, type RequestsOptions } from '../src/engine/requests.ts'
import { PathTemplate } from '../src/http/path-template.ts'
import { LoadError } from '../src/index.ts'

const OPTIONS: RequestsOptions = { method: 'GET', path: '/', headers: {}, host: 'h' }

function text(options: Partial<RequestsOptions>, path = 0): string {
  return new Requests({ ...OPTIONS, ...options }, createRandom(1)).bytes(path).toString()
}

function counts(values: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1)
  return found
}

/** Within five standard deviations of a binomial count. */
function assertUniform(found: Map<string, number>, kinds: number, draws: number): void {
  assert.equal(found.size, kinds)
  const expected = draws / kinds
  for (const [value, count] of found)
    assert.ok(Math.abs(count - expected) < 5 * Math.sqrt(expected), `${value}: ${count} of ${draws}`)
}

test('a fixed request is the same buffer each time', () => {
  const requests = new Requests(OPTIONS, createRandom(1))
  assert.equal(requests.bytes(0), requests.bytes(0))
  assert.equal(requests.bytes(0).toString(), 'GET / HTTP/1.1\r\nhost: h\r\n\r\n')
})

test('a body has its length in bytes, and any method may have one', () => {
  const body = 'naïve ✓'
  for (const method of ['POST', 'GET']) {
    const expected = `${method} / HTTP/1.1\r\nhost: h\r\na: b\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    assert.equal(text({ method, body, headers: { a: 'b' } }), expected)
  }
  assert.equal(text({ method: 'POST' }), 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n')
  assert.equal(text({ method: 'PUT', body: '' }), 'PUT / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n')
})

test('a request can ask for a close, once', () => {
  assert.equal(text({ close: true }), 'GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n')
  const headers = { Connection: 'close' }
  assert.equal(text({ close: true, headers }), 'GET / HTTP/1.1\r\nhost: h\r\nConnection: close\r\n\r\n')
})

test('paths of a list are drawn alike', () => {
  const requests = new Requests({ ...OPTIONS, path: ['/a', '/b', '/c'] }, createRandom(1))
  const drawn = Array.from({ length: 30_000 }, () => requests.draw())
  assertUniform(counts(drawn.map(String)), 3, drawn.length)
  assert.equal(requests.bytes(1).toString(), 'GET /b HTTP/1.1\r\nhost: h\r\n\r\n')
})

test('random parts are drawn anew, each value as often as any other', () => {
  const draws = 20_000
  const random = createRandom(2)
  const render = (path: string) => {
    const template = new PathTemplate(path)
    assert.equal(template.isFixed, false)
    return counts(Array.from({ length: draws }, () => template.render(random)))
  }
  const paths = render('/hello/{int:8-12}?x')
  assertUniform(paths, 5, draws)
  const expected = [8, 9, 10, 11, 12].map((n) => `/hello/${n}?x`)
  assert.deepEqual(new Set(paths.keys()), new Set(expected))
  assertUniform(render('/{int:0-1}/{int:7-8}'), 4, draws)
  assert.deepEqual(render('/{int:7-7}'), new Map([['/7', draws]]))
})

test('the same seed makes the same requests', () => {
  const path = ['/{int:1-1000000}', '/x/{int:1-1000000}']
  const sequence = (seed: number) => {
    const requests = new Requests({ ...OPTIONS, path }, createRandom(seed))
    return Array.from({ length: 50 }, () => requests.bytes(requests.draw()).toString())
  }
  assert.deepEqual(sequence(1), sequence(1))
  assert.notDeepEqual(sequence(1), sequence(2))
})

test('a wrong random part is refused with a sentence that shows a right one', () => {
  for (const path of ['/{}', '/{int:2-1}', '/{int:a-b}', '/{name}', '/{', '/a}']) {
    assert.throws(
      () => new PathTemplate(path),
      (error) => error instanceof LoadError && /\{int:1-1000\}.*\.$/.test(error.message),
      path,
    )
  }
  assert.throws(() => new Requests({ ...OPTIONS, path: [] }, createRandom(1)), LoadError)
  assert.throws(() => new Requests({ ...OPTIONS, path: ['/', 'x'] }, createRandom(1)), LoadError)
})

test('headers that would contradict the body are refused', () => {
  for (const headers of [
    { 'content-length': '2' },
    { 'Transfer-Encoding': 'chunked' },
    { 'content-length': '0' },
  ])
    assert.throws(() => text({ method: 'POST', body: 'hi', headers }), /The length of the body is known/)
})
