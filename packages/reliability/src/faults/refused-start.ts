import { createServer } from 'node:net'
import type { App } from '@startgrid/grid/apps.ts'
import { LaunchError, type LaunchOptions, type Startable } from '@startgrid/grid/launcher.ts'
import { LIGHT } from '../clients/clients.ts'
import { listenOnLoopback } from '../clients/loopback.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { CopiedApp } from '../subject/copied-app.ts'
import type { Subject } from '../subject/subject.ts'

/** An app that cannot start says why once, in words, and does not hang or print a stack. */
export const refusedStart: Fault = {
  name: 'refused-start',
  title: 'port taken, bad configuration, unknown role, missing build',
  expected: 'one sentence, exit 1',
  atOnce: 2,
  async run(subject) {
    const unknown = { ...subject.app, role: 'nobody' }
    const findings = [
      await judgePort(subject),
      await judgeStart(subject, 'With PORT=99999', { env: { PORT: '99999' } }),
      await judgeStart(subject, "As role 'nobody'", {}, unknown),
      await judgeBuild(subject),
    ]
    return { findings: findings.flat() }
  },
}

async function judgePort(subject: Subject): Promise<string[]> {
  const taken = createServer()
  const port = await listenOnLoopback(taken)
  try {
    return await judgeStart(subject, 'With a port that is taken', { env: { PORT: String(port) } })
  } finally {
    taken.close()
  }
}

/** Works on a copy of the app, because another test may start it from the same files. */
async function judgeBuild(subject: Subject): Promise<string[]> {
  const copy = new CopiedApp(subject.app)
  const app = { ...subject.app, directory: copy.directory }
  try {
    copy.removeBuilt('assets')
    const withoutFiles = await judgeUnbuilt(subject, "Without the page's files", app)
    copy.removeBuilt()
    return [...withoutFiles, ...(await judgeUnbuilt(subject, 'Without a build', app))]
  } finally {
    copy.remove()
  }
}

/** Pages need a build. An app without pages may start without one, if it then serves requests. */
async function judgeUnbuilt(subject: Subject, how: string, app: App): Promise<string[]> {
  const findings = await judgeStart(subject, how, {}, app)
  if (findings[0] !== `${how} it starts.` || app.role === 'ssr') return findings
  const { target, stop } = await subject.launch({}, app)
  const status = await statusOf(target, LIGHT[app.role])
  await stop()
  return status === 200
    ? []
    : [`${how} it starts, and responds with ${status ?? 'nothing'} to GET ${LIGHT[app.role]}.`]
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
