import { once } from 'node:events'
import { until } from '@startgrid/cli/until.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { ask } from '../clients/ask.ts'
import { findCrossed, findFailures, LIGHT } from '../clients/clients.ts'
import { type Fault, findBadEnding, PATIENT, type Subject } from '../subject.ts'

/** A release: two copies of an app behind NGINX are restarted in turn. And a crash: one of them is killed. */
export const restart: Fault = {
  name: 'restart',
  atOnce: 3,
  async run(subject) {
    const [first, second] = await Promise.all([start(subject), start(subject)])
    const target = await subject.front(first.target, second.target)
    const path = LIGHT[subject.app.role]
    const readers = subject.clients({ target, path, kept: 6, fresh: 3 })
    // A POST that was on its way when an app ended is a 502, and right so: nobody knows whether it was obeyed.
    const writers = subject.clients({ target, path, method: 'POST', statuses: [404, 405, 502], kept: 2 })
    await until('there have not been 100 responses', () => readers.responded >= 100)
    const findings = await findBadEnding(first, 0)
    const third = await replace(subject, first)
    findings.push(...(await findBadEnding(second, 0)))
    await replace(subject, second)
    await kill(third)
    await replace(subject, third)
    const when = 'while the apps were restarted in turn, or one was killed'
    const [read, written] = await Promise.all([readers.stop(), writers.stop()])
    return [
      ...findings,
      ...findFailures(read, when),
      ...findCrossed(read, 'by NGINX'),
      ...findFailures(written, when),
    ]
  },
}

/** @param port 0: a free one */
function start(subject: Subject, port = 0): Promise<Launch> {
  return subject.launch({ env: { ...NEVER_SHED, ...PATIENT, LOG_LEVEL: 'info', PORT: String(port) } })
}

/** Starts a copy on the port of one that has ended. It is back in turn when it was asked for something. */
async function replace(subject: Subject, { target }: Launch): Promise<Launch> {
  if ('socketPath' in target) throw new Error('It listens on a socket, and should on a port.')
  const copy = await start(subject, target.port)
  const isAsked = () => copy.output().includes('"msg":"request completed"')
  await until('NGINX has not asked the copy that was started again', isAsked)
  return copy
}

async function kill({ child, target }: Launch): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The NGINX of an njs app takes a moment to find out.
  const isFree = async () => (await ask(target, '/livez')).status === undefined
  await until('the port of a killed app is in use', isFree)
}
