import { match } from 'node:assert/strict'
import { disconnects } from '../src/faults/disconnects.ts'
import { findingsOf, testDefect } from './bad-subject.ts'

testDefect('a server that goes on when its clients have left is found', async () => {
  const findings = await findingsOf(disconnects, 'forgets-to-stop', 'ssr')
  match(findings, /Memory grew by \d+ kB, more than 2000\./)
  match(findings, /\d+ timers run on when all clients have left: rendering goes on\./)
  match(findings, /Clients that left caused \d+ error lines, such as: \{"level":50,/)
})

testDefect('a server that keeps their connections is found', async () => {
  match(
    await findingsOf(disconnects, 'keeps-files'),
    /\d+ files or sockets stay open when all clients have left\./,
  )
})
