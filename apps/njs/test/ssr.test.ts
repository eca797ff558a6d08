import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import ssr from '../src/ssr.ts'
import { fakeRequest } from './fake-request.ts'

test('renders as many items as asked for, with a nonce, and refuses what is no number', () => {
  const { request, responses } = fakeRequest({ args: { items: '3' }, variables: { req_id: 'r-1' } })
  ssr.page(request)
  const [[status, html = ''] = []] = responses
  equal(status, 200)
  equal(html.split('class="price"').length - 1, 3)
  match(String(request.headersOut['content-security-policy']), /script-src 'nonce-/)
  const refused = fakeRequest({ args: { items: 'x' } })
  ssr.page(refused.request)
  match(String(refused.responses), /^400,.*"field":"items"/)
})
