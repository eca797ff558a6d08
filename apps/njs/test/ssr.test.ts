import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { renderPage } from '#shared/page/server.js'
import { ssr } from '../src/ssr.ts'
import { send } from './fake-request.ts'

function nonceOf(policy: string | undefined): string {
  return /'nonce-([A-Za-z0-9+/]{24})'/.exec(policy ?? '')?.[1] ?? ''
}

test('GET / renders the document with the nonce of its policy', async () => {
  for (const [target, items] of [
    ['/', 50],
    ['/?items=0', 0],
    ['/?items=1000', 1000],
  ] as const) {
    const { status, headers, body } = await send(ssr, target)
    const nonce = nonceOf(headers['content-security-policy'])
    equal(status, 200)
    equal(headers['content-type'], 'text/html; charset=utf-8')
    equal(body, renderPage('shop', { items, requestId: 'r-1', nonce }))
  }
})

test('each page has a nonce of its own', async () => {
  const readNonce = async () => nonceOf((await send(ssr, '/')).headers['content-security-policy'])
  const [one, two] = [await readNonce(), await readNonce()]
  match(one ?? '', /^.{24}$/)
  notEqual(one, two)
})

test('every response has the same headers, but a page has its own policy and stays out of caches', async () => {
  const common = { ...SECURITY_HEADERS, 'x-request-id': 'r-1' }
  deepEqual((await send(ssr, '/x')).headers, { ...common, 'content-type': 'application/problem+json' })
  const {
    'content-security-policy': policy,
    'cache-control': caching,
    ...others
  } = (await send(ssr, '/')).headers
  const { 'content-security-policy': strict, ...expected } = common
  notEqual(policy, strict)
  equal(caching, 'private, no-store')
  deepEqual(others, { ...expected, 'content-type': 'text/html; charset=utf-8' })
})

test('items that are not a plain decimal from 0 to 1000, or come twice, are 400 with the field', async () => {
  for (const query of ['01', '-1', '1001', 'x', '', '1&items=2']) {
    const { status, headers, body } = await send(ssr, `/?items=${query}`)
    equal(status, 400, query)
    equal(JSON.parse(body ?? '').errors[0].field, 'items')
    equal(headers['content-security-policy'], SECURITY_HEADERS['content-security-policy'])
  }
})

test('there is no stream, and only NGINX serves files', async () => {
  for (const target of ['/stream', '/assets/page.js']) equal((await send(ssr, target)).status, 404)
})
