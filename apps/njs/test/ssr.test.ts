import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { renderDocument, renderPartial } from '#shared/page/server.js'
import app from '../src/ssr.ts'
import { ask } from './fake-request.ts'

function nonceOf(policy: string | undefined): string {
  return /'nonce-([A-Za-z0-9+/]{24})'/.exec(policy ?? '')?.[1] ?? ''
}

test('GET / renders the document with the nonce of its policy', () => {
  for (const [target, items] of [
    ['/', 50],
    ['/?items=0', 0],
    ['/?items=1000', 1000],
  ] as const) {
    const { status, headers, body } = ask(app, target)
    const nonce = nonceOf(headers['content-security-policy'])
    equal(status, 200)
    equal(headers['content-type'], 'text/html; charset=utf-8')
    equal(body, renderDocument({ items, requestId: 'r-1', nonce }))
  }
})

test('each answer has a nonce of its own', () => {
  const [one, two] = ['/', '/'].map((target) => nonceOf(ask(app, target).headers['content-security-policy']))
  match(one ?? '', /^.{24}$/)
  notEqual(one, two)
})

test('every answer has the headers of all, and the page a policy of its own', () => {
  const common = { ...SECURITY_HEADERS, 'x-request-id': 'r-1' }
  deepEqual(ask(app, '/x').headers, { ...common, 'content-type': 'application/problem+json' })
  const { 'content-security-policy': policy, ...others } = ask(app, '/').headers
  const { 'content-security-policy': strict, ...expected } = common
  notEqual(policy, strict)
  deepEqual(others, { ...expected, 'content-type': 'text/html; charset=utf-8' })
})

test('items that are no plain decimal from 0 to 1000, or given twice, are 400', () => {
  for (const query of ['01', '-1', '1001', 'x', '', '1&items=2']) {
    const { status, headers } = ask(app, `/?items=${query}`)
    equal(status, 400, query)
    equal(headers['content-security-policy'], SECURITY_HEADERS['content-security-policy'])
  }
})

test('GET /partial/:locale/:slug', () => {
  const { headers, body } = ask(app, '/partial/de-DE/honeyed-assam-black')
  equal(body, renderPartial('de-DE', 'honeyed-assam-black'))
  ok(nonceOf(headers['content-security-policy']))
  for (const target of ['/partial/de/honeyed-assam-black', '/partial/de-DE/x', '/partial/de-DE']) {
    equal(ask(app, target).status, 404)
  }
})

test('there is no stream, and only NGINX serves files', () => {
  for (const target of ['/stream', '/assets/page.js']) equal(ask(app, target).status, 404)
  equal(ask(app, '/assets/page.js', { method: 'PUT' }).status, 405)
})
