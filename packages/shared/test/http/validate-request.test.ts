import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { validateRequest } from '../../src/http/validate-request.ts'

const CASES: [target: string, host: string | undefined, status: number | undefined][] = [
  ['/', 'a', undefined],
  ['/', undefined, undefined],
  ['/', 'a:80', undefined],
  ['/', 'a', undefined],
  ['/', 'a, b', 400],
  ['/', 'a,a', 400],
  ['/', '', undefined],
  ['/', 'a-b.example:', undefined],
  ['/', '127.0.0.1:3000', undefined],
  ['/', '[::1]:3000', undefined],
  ['/', 'a%20b', undefined],
  ['/', 'a%2', 400],
  ['/', 'a b', 400],
  ['/', 'a/b', 400],
  ['/', 'a@b', 400],
  ['/', 'a:b', 400],
  ['/', 'a:80:80', 400],
  ['/', '::1', 400],
  ['/', '[::1', 400],
  ['/', '[::1]a', 400],
  ['/', 'é', 400],
  ['/a#b', 'a', 400],
  ['/?a#b', 'a', 400],
  ['/a%2Fb', 'a', undefined],
  ['/%C3%AB', 'a', undefined],
  ['/%zz', 'a', 400],
  ['/%', 'a', 400],
  ['/%4', 'a', 400],
  ['/%FF', 'a', 400],
  ['/%C3', 'a', 400],
  ['/%00', 'a', 400],
  ['/%2500', 'a', undefined],
  ['/?q=%zz', 'a', undefined],
  ['/%zz?q=1', 'a', 400],
]

test('refuses malformed targets and hosts', () => {
  for (const [target, host, status] of CASES)
    equal(validateRequest(target, host), status, `${target} ${host}`)
})

test('takes headers as Fetch gives them', () => {
  equal(validateRequest('/', null), undefined)
})
