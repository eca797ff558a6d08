import { once } from 'node:events'
import { createServer } from 'node:net'
import { until } from '@startgrid/cli/until.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { Address } from '@startgrid/nginx/address.ts'
import { findCrossed, findFailures, LIGHT, type Tally } from '../clients/clients.ts'
import { listenOnLoopback } from '../clients/loopback.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { findBadEnding, PATIENT } from '../subject/ending.ts'
import type { Subject } from '../subject/subject.ts'

/** A release: two copies of an app behind NGINX are restarted in turn. And a crash: one of them is killed. */
export const restart: Fault = {
  name: 'restart',
  title: 'app restarted behind NGINX with two upstreams',
  expected: 'no failed request: passive health, retry only for safe methods',
  atOnce: 3,
  async run(subject) {
    const copies = new Copies(subject)
    const [first, second] = await Promise.all([copies.start(), copies.start()])
    const listen = { host: '127.0.0.1', port: 0 }
    const front = { name: 'app', topology: 'nginx', listen, upstream: first, copies: [second] } as const
    const { addresses } = await subject.front([front], 2)
    const [target = listen] = addresses
    const path = LIGHT[subject.app.role]
    const readers = subject.clients({ target, path, kept: 6, fresh: 3 })
    const writing = { target, path, method: 'POST', statuses: [404, 405], kept: 2 }
    const writers = subject.clients(writing)
    await until('there have not been 100 responses', () => readers.responded >= 100)
    const findings = [
      ...(await copies.replace(first, 'SIGTERM')),
      ...(await copies.replace(second, 'SIGTERM')),
    ]
    const written = splitLost(await writers.stop(), path)
    const writersAtCrash = subject.clients(writing)
    await copies.replace(first, 'SIGKILL')
    const [read, atCrash] = await Promise.all([readers.stop(), writersAtCrash.stop()])
    const writtenAtCrash = splitLost(atCrash, path)
    const [restarts, crash] = ['while the apps were restarted in turn', 'while an app was killed']
    return {
      findings: [
        ...findings,
        ...findFailures(read, `${restarts}, or ${crash}`),
        ...findCrossed(read, 'by NGINX'),
        ...findFailures(written.tally, restarts),
        ...findFailures(writtenAtCrash.tally, crash),
        ...(await judgeCutPost(subject, second)),
      ],
      figures: {
        requests: read.responded,
        POSTs: written.tally.responded,
        'POSTs lost in restarts': written.lost,
        'POSTs lost in the crash': writtenAtCrash.lost,
      },
    }
  },
}

/** The copies, each on a port that it keeps. */
class Copies {
  readonly #subject: Subject
  readonly #running = new Map<number, Launch>()

  constructor(subject: Subject) {
    this.#subject = subject
  }

  /** @param port 0: a free one */
  async start(port = 0): Promise<Pick<Address, 'host' | 'port'>> {
    const launched = await this.#subject.launch({
      env: { ...NEVER_SHED, ...PATIENT, LOG_LEVEL: 'info', PORT: String(port) },
    })
    const { target } = launched
    if ('socketPath' in target) throw new Error('It listens on a socket, and should on a port.')
    this.#running.set(target.port, launched)
    return target
  }

  /** Ends a copy and starts it again. @returns what went wrong; it is back in turn when it was asked for something */
  async replace(address: Address, signal: 'SIGTERM' | 'SIGKILL'): Promise<string[]> {
    const launched = this.#running.get(address.port)
    if (launched === undefined) throw new Error(`No copy listens on port ${address.port}.`)
    const findings = signal === 'SIGTERM' ? await findBadEnding(launched, 0) : await kill(launched)
    await this.start(address.port)
    const isAsked = () =>
      this.#running.get(address.port)?.output().includes('"msg":"request completed"') === true
    await until(`NGINX has not asked the copy that was started again after ${signal}`, isAsked)
    return findings
  }
}

async function kill({ child, target }: Launch): Promise<string[]> {
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The NGINX of an njs app takes a moment to find out.
  await until(
    'the port of a killed app is in use',
    async () => (await statusOf(target, '/livez')) === undefined,
  )
  return []
}

/** A POST that was on its way when an app ended is a 502, and right so: nobody knows whether it was obeyed. */
function splitLost({ responded, crossed, failures }: Tally, path: string): { tally: Tally; lost: number } {
  const what = `POST ${path}: 502`
  const others = new Map([...failures].filter(([failure]) => failure !== what))
  return { tally: { responded, crossed, failures: others }, lost: failures.get(what) ?? 0 }
}

/**
 * Puts an upstream before the app that reads a request, and then ends the connection: nobody knows whether it obeyed.
 * @returns a finding if NGINX sent the same POST to the app
 */
async function judgeCutPost(subject: Subject, app: Address): Promise<string[]> {
  let cut = 0
  const cutter = createServer((socket) =>
    socket.once('data', () => {
      cut += 1
      socket.end()
    }),
  )
  const upstream = { host: '127.0.0.1', port: await listenOnLoopback(cutter) }
  const listen = { host: '127.0.0.1', port: 0 }
  const front = { name: 'cut', topology: 'nginx', listen, upstream, copies: [app] } as const
  const { addresses } = await subject.front([front])
  const [target = listen] = addresses
  try {
    return await postUntilCut(target, LIGHT[subject.app.role], () => cut)
  } finally {
    cutter.close()
  }
}

/** NGINX takes turns, so the first or the second POST is cut off. */
async function postUntilCut(target: Address, path: string, timesCut: () => number): Promise<string[]> {
  for (let turn = 0; turn < 10; turn++) {
    const status = await statusOf(target, path, 'POST')
    if (timesCut() === 0) continue
    return status === 502
      ? []
      : [`NGINX sent a POST again that had been cut off; its response was ${status}.`]
  }
  return ['NGINX has sent none of 10 POSTs to the first upstream.']
}
