import { once } from 'node:events'
import { createServer } from 'node:net'
import { LaunchError } from '@startgrid/grid/launcher.ts'
import type { Fault } from '../fault.ts'
import type { Subject } from '../subject.ts'

/** An app that cannot start says why once, in words, and does not hang or print a stack. */
export const refusedStart: Fault = {
  name: 'refused-start',
  title: 'port taken, bad configuration',
  expected: 'one sentence, exit 1',
  atOnce: 2,
  async run(subject) {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    try {
      const findings = [
        await judgeStart(subject, { PORT: String(port) }),
        await judgeStart(subject, { PORT: '99999' }),
      ]
      return { findings: findings.flat() }
    } finally {
      taken.close()
    }
  },
}

async function judgeStart(subject: Subject, env: Record<string, string>): Promise<string[]> {
  const setting = Object.entries(env).join().replace(',', '=')
  try {
    await subject.launch({ env })
    return [`With ${setting} it starts.`]
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    const said = /ended with 1 before it listened: [^\n]+\.$/.test(error.message)
    return said ? [] : [`With ${setting} it does not end with one sentence and 1: ${error.message}`]
  }
}
