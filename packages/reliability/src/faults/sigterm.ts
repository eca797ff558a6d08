import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { findCrossed, findFailures, LIGHT, type Tally } from '../clients/clients.ts'
import { statusOf, until } from '../clients/waiting.ts'
import type { Fault, Outcome } from '../fault.ts'
import { findBadEnding } from '../subject/ending.ts'
import type { Subject } from '../subject/subject.ts'

/** An orchestrator ends an app that is in use, and no client notices. */
export const sigterm: Fault = {
  name: 'sigterm',
  title: 'SIGTERM under load, direct and behind NGINX',
  expected: 'no failed request, exit 0 within the grace, a second signal exits at once',
  atOnce: 2,
  async run(subject) {
    const parts = [
      await untilNoneCrossed(() => tellClients(subject)),
      await untilNoneCrossed(() => tellBalancer(subject)),
      await insist(subject),
    ]
    return {
      findings: parts.flatMap(({ findings }) => findings),
      notes: [...new Set(parts.flatMap(({ notes = [] }) => notes))],
    }
  },
}

interface Attempt extends Outcome {
  /** All that was found is that requests met the end of a connection that had been idle. */
  readonly onlyCrossed?: boolean
}

const ATTEMPTS = 6

/**
 * An app closes connections that were idle for 100 ms. A client that a busy machine keeps from running for longer may send into that; with an
 * app that does not wait it happens every time.
 */
async function untilNoneCrossed(attempt: () => Promise<Attempt>): Promise<Outcome> {
  let last = await attempt()
  for (let tried = 1; tried < ATTEMPTS && last.onlyCrossed; tried += 1) last = await attempt()
  return last
}

/** Nobody tells the clients: on a connection that they keep they are served until it is closed, what is slow to the end. */
async function tellClients(subject: Subject): Promise<Attempt> {
  const launched = await subject.launch({ env: NEVER_SHED })
  const path = LIGHT[subject.app.role]
  const { target } = launched
  const clients = subject.clients({ target, path, kept: 10, untilClosed: true })
  const canWait = subject.app.role === 'ssr' && !subject.app.absent.includes('stream')
  const slow = subject.clients({
    target,
    path: '/stream?delay=800',
    kept: canWait ? 3 : 0,
    untilClosed: true,
  })
  await until('the clients have not had 100 responses', () => clients.responded >= 100)
  const when = 'while it drained'
  const findings = await findBadEnding(launched, 0)
  const [tally, slowTally] = await Promise.all([clients.stop(), slow.stop()])
  return judge(
    subject,
    launched,
    [...findings, ...findFailures(tally, when), ...(canWait ? findFailures(slowTally, when) : [])],
    tally,
  )
}

/** Clients that open connections go on until readiness fails, as a load balancer does; the port is open until then. */
async function tellBalancer(subject: Subject): Promise<Attempt> {
  const launched = await subject.launch({ env: { ...NEVER_SHED, SHUTDOWN_DELAY_MS: '3000' } })
  const path = LIGHT[subject.app.role]
  const { target } = launched
  if ('socketPath' in target) throw new Error('It listens on a socket, and should on a port.')
  const listen = { host: '127.0.0.1', port: 0 }
  const front = await subject.front([{ name: 'app', topology: 'nginx', listen, upstream: target }])
  const [address = listen] = front.addresses
  const direct = subject.clients({ target, path, kept: 5, fresh: 5 })
  const proxied = subject.clients({ target: address, path, kept: 5, fresh: 5 })
  await until(
    'one of both ways has not had 100 responses',
    () => direct.responded >= 100 && proxied.responded >= 100,
  )
  const ending = findBadEnding(launched, 0)
  await untilUnready(launched)
  const [tally, proxiedTally] = await Promise.all([direct.stop(), proxied.stop()])
  return judge(
    subject,
    launched,
    [
      ...(await ending),
      ...findFailures(tally, 'before readiness failed'),
      ...findFailures(proxiedTally, 'behind NGINX, before readiness failed'),
      ...findCrossed(proxiedTally, 'behind NGINX'),
    ],
    tally,
  )
}

/** A person who does not want to wait sends the signal again. */
async function insist(subject: Subject): Promise<Outcome> {
  const launched = await subject.launch({ env: { SHUTDOWN_DELAY_MS: '120000' } })
  void launched.stop()
  await untilUnready(launched)
  return { findings: await findBadEnding(launched, 1, 30_000) }
}

/** Readiness fails, or all is over too soon. */
function untilUnready({ child, target }: Launch): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return until(
    'readiness has not failed',
    async () => hasEnded() || (await statusOf(target, '/readyz')) === 503,
  )
}

/** Its log must be silent, and its kept connections must not end while a request is on its way, except where NGINX does that. */
function judge(subject: Subject, { output, ready }: Launch, findings: string[], tally: Tally): Attempt {
  const errors = output()
    .split('\n')
    .filter((line) => /"level":[56]0/.test(line) || /^\s+at /.test(line))
  const all = errors.length === 0 ? findings : [...findings, `It logged an error: ${errors[0]}`]
  if (ready.nginx === undefined || subject.nginx?.keepaliveMinTimeout === true) {
    const crossed = findCrossed(tally, 'while it drained')
    return { findings: [...all, ...crossed], onlyCrossed: all.length === 0 && crossed.length > 0 }
  }
  return {
    findings: all,
    notes: [
      `NGINX ${ready.nginx} closes idle client connections at once when it stops; from 1.27.4 on it waits ` +
        'for a request that is on its way (`keepalive_min_timeout`).',
    ],
  }
}
