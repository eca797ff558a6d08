import { match } from 'node:assert/strict'
import { soak } from '../src/faults/soak.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect(
  'a server that keeps a little of each request is found, and so are its wrong responses',
  async () => {
    const findings = await findingsOf(soak, 'keeps-a-little')
    match(
      findings,
      /Memory grew by \d+ kB from the second fifth of the time to the last, in \d+ requests; 3000 are allowed\./,
    )
    match(findings, /GET \/hello\/ got 200, not 404 \(\d+ times\)/)
  },
)
