import { match } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc9112 } from '../src/faults/rfc9112.ts'
import { findingsOf } from './bad-subject.ts'

test('a lenient parser is found, form by form', async () => {
  const findings = await findingsOf(rfc9112, 'lenient')
  for (const form of [
    '3.2, no Host: 404, 404, and reads on instead of 400',
    '3.2, two Hosts: 404, 404, and reads on instead of 400',
    '6.1, chunked, then Content-Length: 404, 404, and reads on instead of the end of the connection',
    '6.1, chunked in HTTP/1.0: 404, 404, and reads on instead of the end of the connection',
  ])
    match(findings, new RegExp(form.replaceAll('.', '\\.')))
})

test('a server that refuses everything is found', async () => {
  const findings = await findingsOf(rfc9112, 'refuses-everything')
  match(findings, /6\.3, a plain Content-Length: 400, closed instead of an answer to both/)
})
