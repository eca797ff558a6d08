import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { hello } from '../src/hello.ts'
import { send } from './fake-request.ts'

test('GET / and GET /json', async () => {
  const text = await send(hello, '/')
  deepEqual([text.headers['content-type'], text.body], ['text/plain; charset=utf-8', 'Hello World!'])
  const json = await send(hello, '/json')
  deepEqual(
    [json.headers['content-type'], json.body],
    ['application/json; charset=utf-8', '{"hello":"world"}'],
  )
})

test('GET /hello/:name', async () => {
  equal((await send(hello, '/hello/Ada')).body, 'Hello, Ada!')
  equal((await send(hello, '/hello/%E4%B8%96%E7%95%8C')).body, 'Hello, 世界!')
  equal((await send(hello, '/hello/a%2Fb')).body, 'Hello, a/b!')
  for (const target of ['/hello', '/hello/', '/hello/a/b']) equal((await send(hello, target)).status, 404)
})
