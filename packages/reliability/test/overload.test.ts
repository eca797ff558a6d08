import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { judgeFigures, overload } from '../src/faults/overload.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that serves everyone is found', async () => {
  match(await findingsOf(overload, 'never-sheds', 'ssr'), /No page was refused with 503\./)
})

testDefect('a server that refuses without a word, and probes too, is found', async () => {
  const findings = await findingsOf(overload, 'sheds-badly', 'ssr')
  match(findings, /\/livez failed \d+ times: 503\./)
  match(findings, /The 503 has retry-after: '', not /)
  match(findings, /The 503 has content-security-policy: '', not default-src 'none'/)
  match(findings, /The 503 has the body 'sorry'\./)
})

test('too little served, a late probe and a late recovery are found, each by itself', () => {
  const good = { goodput: 0.6, 'livez ms': 2_000, 'recovered ms': 2_000 }
  deepEqual(judgeFigures(good), [])
  deepEqual(judgeFigures({ ...good, goodput: 0.59 }), ['Only 0.59 of the capacity was left for pages.'])
  deepEqual(judgeFigures({ ...good, 'livez ms': 2_001 }), ['/livez took 2001 ms.'])
  deepEqual(judgeFigures({ ...good, 'recovered ms': 2_001 }), [
    'The first page came 2001 ms after the overload.',
  ])
})
