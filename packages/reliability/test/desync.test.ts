import { match } from 'node:assert/strict'
import { desync } from '../src/faults/desync.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect(
  'an app that reads requests out of bodies is found by the logs and by whose response came',
  async () => {
    const findings = await findingsOf(desync, 'ignores-bodies')
    match(
      findings,
      /The app read a request attack-\d+\.hidden that NGINX did not send, after .*Content-Length/,
    )
  },
)
