import { match } from 'node:assert/strict'
import { test } from 'node:test'
import { overload } from '../src/faults/overload.ts'
import { findingsOf } from './bad-subject.ts'

test('a server that serves everyone is found', async () => {
  match(await findingsOf(overload, 'never-sheds', 'ssr'), /No page was refused with 503\./)
})

test('a server that refuses without a word, and probes too, is found', async () => {
  const findings = await findingsOf(overload, 'sheds-badly', 'ssr')
  match(findings, /\/livez failed \d+ times: 503\./)
  match(findings, /The 503 has retry-after: '', not /)
  match(findings, /The 503 has content-security-policy: '', not default-src 'none'/)
  match(findings, /The 503 has the body 'sorry'\./)
})
