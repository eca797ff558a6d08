import { match } from 'node:assert/strict'
import { fuzz } from '../src/faults/fuzz.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a request that ends the process is found, and made short', async () => {
  const findings = await findingsOf(fuzz, 'parses-urls')
  match(findings, /The process ended with 1: /)
  match(findings, /Request \d+ of seed 1 ends it\. The shortest: ".{1,60}"\./)
})

testDefect('a request that gets 500 is found, and made short', async () => {
  const findings = await findingsOf(fuzz, 'decodes-paths')
  match(findings, /Request \d+ of seed 1: 500 came back\. The shortest: "[^"]*%.{0,60}"\./)
  match(findings, /Behind NGINX: Request/)
})
