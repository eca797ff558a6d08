import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { refusal } from '../../src/http/guard.ts'

const CASES: [
  target: string,
  host: string | undefined,
  length: string | undefined,
  status: number | undefined,
][] = [
  ['/', 'a', undefined, undefined],
  ['/', undefined, undefined, undefined],
  ['/', 'a:80', '65536', undefined],
  ['/', 'a', '65537', 413],
  ['/', 'a', '0', undefined],
  ['/', 'a, b', undefined, 400],
  ['/', 'a,a', undefined, 400],
  ['/', '', undefined, undefined],
  ['/', 'a-b.example:', undefined, undefined],
  ['/', '127.0.0.1:3000', undefined, undefined],
  ['/', '[::1]:3000', undefined, undefined],
  ['/', 'a%20b', undefined, undefined],
  ['/', 'a%2', undefined, 400],
  ['/', 'a b', undefined, 400],
  ['/', 'a/b', undefined, 400],
  ['/', 'a@b', undefined, 400],
  ['/', 'a:b', undefined, 400],
  ['/', 'a:80:80', undefined, 400],
  ['/', '::1', undefined, 400],
  ['/', '[::1', undefined, 400],
  ['/', '[::1]a', undefined, 400],
  ['/', 'é', undefined, 400],
  ['/a#b', 'a', undefined, 400],
  ['/?a#b', 'a', undefined, 400],
  ['/a%2Fb', 'a', undefined, undefined],
  ['/%C3%AB', 'a', undefined, undefined],
  ['/%zz', 'a', undefined, 400],
  ['/%', 'a', undefined, 400],
  ['/%4', 'a', undefined, 400],
  ['/%FF', 'a', undefined, 400],
  ['/%C3', 'a', undefined, 400],
  ['/%00', 'a', undefined, 400],
  ['/%2500', 'a', undefined, undefined],
  ['/?q=%zz', 'a', undefined, undefined],
  ['/%zz?q=1', 'a', undefined, 400],
  // 400 comes before 413
  ['/%zz', 'a', '65537', 400],
  ['/', 'a, b', '65537', 400],
]

test('refuses what no framework should see', () => {
  for (const [target, host, length, status] of CASES)
    equal(refusal(target, host, length), status, `${target} ${host} ${length}`)
})

test('takes headers as Fetch gives them', () => {
  equal(refusal('/', null, null), undefined)
})
