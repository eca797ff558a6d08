import { once } from 'node:events'
import { createServer } from 'node:net'
import { LaunchError, type LaunchOptions, type Startable } from '@startgrid/grid/launcher.ts'
import type { Fault, Subject } from '../subject.ts'

/** An app that cannot start says why once, in words, and does not hang or print a stack. */
export const refusedStart: Fault = {
  name: 'refused-start',
  atOnce: 2,
  async run(subject) {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = String(typeof address === 'object' ? address?.port : '')
    const findings = [
      ...(await judgeStart(subject, 'With a port that is taken', { env: { PORT: port } })),
      ...(await judgeStart(subject, 'With PORT=99999', { env: { PORT: '99999' } })),
      ...(await judgeStart(subject, "As role 'nobody'", {}, { ...subject.app, role: 'nobody' })),
    ]
    taken.close()
    return findings
  },
}

async function judgeStart(
  subject: Subject,
  how: string,
  options: LaunchOptions,
  app?: Startable,
): Promise<string[]> {
  try {
    const { stop } = await subject.launch(options, app)
    await stop()
    return [`${how} it starts.`]
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    const isSaid = /ended with 1 before it listened: [^\n]+\.$/.test(error.message)
    return isSaid ? [] : [`${how} it does not end with one sentence and 1: ${error.message}`]
  }
}
