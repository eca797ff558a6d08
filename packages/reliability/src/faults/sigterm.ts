import { until } from '@startgrid/cli/until.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { findCrossed, findFailures, LIGHT, type Tally } from '../clients/clients.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault, Outcome } from '../fault.ts'
import { findBadEnding, PATIENT } from '../subject/ending.ts'
import type { Subject } from '../subject/subject.ts'

/** An orchestrator ends an app that is in use, and no client notices. */
export const sigterm: Fault = {
  name: 'sigterm',
  title: 'SIGTERM under load, direct and behind NGINX',
  expected: 'no failed request, exit 0 within the grace period, exit at once on a second signal',
  atOnce: 2,
  async run(subject) {
    const parts = [
      await untilUndisturbed(() => tellClients(subject)),
      await untilUndisturbed(() => tellBalancer(subject)),
      await insist(subject),
    ]
    return {
      findings: parts.flatMap(({ findings }) => findings),
      notes: [...new Set(parts.flatMap(({ notes = [] }) => notes))],
    }
  },
}

interface Attempt extends Outcome {
  /** Findings for which a busy machine may be the reason. If the app is, they return in every attempt. */
  readonly disturbances: readonly string[]
}

const ATTEMPTS = 6

/** Tries again while a busy machine may be the reason of all findings. */
async function untilUndisturbed(attempt: () => Promise<Attempt>): Promise<Outcome> {
  let last = await attempt()
  for (
    let tried = 1;
    tried < ATTEMPTS && last.findings.length === 0 && last.disturbances.length > 0;
    tried += 1
  )
    last = await attempt()
  return { ...last, findings: [...last.findings, ...last.disturbances] }
}

/** Seconds that a drain may take: the default of SHUTDOWN_TIMEOUT_MS. Docker kills after ten. */
const GRACE_S = 9

interface Ending {
  findings: string[]
  /** From the end of SHUTDOWN_DELAY_MS to that of the process. */
  seconds: number
}

async function end(launched: Launch, delayMs = 0): Promise<Ending> {
  const startedAt = performance.now()
  const findings = await findBadEnding(launched, 0)
  return { findings, seconds: (performance.now() - startedAt - delayMs) / 1_000 }
}

/** Nobody tells the clients: on a connection that they keep they are served until it is closed, what is slow to the end. */
async function tellClients(subject: Subject): Promise<Attempt> {
  const launched = await subject.launch({ env: { ...NEVER_SHED, ...PATIENT } })
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
  const ending = await end(launched)
  const [tally, slowTally] = await Promise.all([clients.stop(), slow.stop()])
  return judge(
    subject,
    launched,
    ending,
    [...findFailures(tally, when), ...(canWait ? findFailures(slowTally, when) : [])],
    tally,
  )
}

/** Clients that open connections go on until readiness fails, as a load balancer does; the port is open until then. */
async function tellBalancer(subject: Subject): Promise<Attempt> {
  const delayMs = 3_000
  const launched = await subject.launch({
    env: { ...NEVER_SHED, ...PATIENT, SHUTDOWN_DELAY_MS: String(delayMs) },
  })
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
  const ending = end(launched, delayMs)
  await untilUnready(launched)
  const [tally, proxiedTally] = await Promise.all([direct.stop(), proxied.stop()])
  return judge(
    subject,
    launched,
    await ending,
    [
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

/**
 * It must end within its grace, and with a silent log. Its kept connections must not end while a request is on its way, except where NGINX does
 * that.
 */
function judge(
  subject: Subject,
  { app, output, ready }: Launch,
  { findings, seconds }: Ending,
  failures: readonly string[],
  tally: Tally,
): Attempt {
  const [error] = output()
    .split('\n')
    .filter((line) => /"level":[56]0/.test(line) || /^\s+at /.test(line))
  const all = [...findings, ...failures, ...(error === undefined ? [] : [`It logged an error: ${error}`])]
  const late = `${app.name} needed ${seconds.toFixed(1)} s to drain; its grace is ${GRACE_S} s.`
  const disturbances = seconds > GRACE_S ? [late] : []
  // An app closes connections that were idle for 100 ms. A busy machine may keep a client from running for longer.
  if (ready.nginx === undefined || subject.nginx?.keepaliveMinTimeout === true)
    return { findings: all, disturbances: [...disturbances, ...findCrossed(tally, 'while it drained')] }
  return {
    findings: all,
    disturbances,
    notes: [
      `NGINX ${ready.nginx} closes idle client connections at once when it stops; from 1.27.4 on it waits ` +
        'for a request that is on its way (`keepalive_min_timeout`).',
    ],
  }
}
