import { until } from '@startgrid/cli/until.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { type AppSubject, findBadEnding, PATIENT } from '../app.ts'
import { ask, findCrossed, findFailures, LIGHT, type Tally } from '../clients.ts'
import { REFUSED } from '../link.ts'

/** An orchestrator ends an app that is in use, and no client notices. */
export async function drains(subject: AppSubject): Promise<string[]> {
  return [
    ...(await drainAtOnce(subject)),
    ...(await drainOverLink(subject)),
    ...(await drainWhileClientsReturn(subject)),
    ...(await drainAfterDelay(subject)),
    ...(await insist(subject)),
  ]
}

/** Nobody tells the clients: on a connection that they keep they are served until it is closed, what is slow to the end. */
async function drainAtOnce(subject: AppSubject): Promise<string[]> {
  const { role, absent } = subject.app
  const launched = await subject.launch({ env: { ...NEVER_SHED, ...PATIENT } })
  const { target } = launched
  const clients = subject.clients({ target, path: LIGHT[role], kept: 10, untilClosed: true })
  const canWait = role === 'ssr' && !absent.includes('stream')
  const waiting = { target, path: '/stream?delay=800', kept: canWait ? 3 : 0, untilClosed: true }
  const slow = subject.clients(waiting)
  await until('the clients have not had 100 responses', () => clients.responded >= 100)
  const findings = await findBadEnding(launched, 0)
  const [tally, slowTally] = await Promise.all([clients.stop(), slow.stop()])
  for (const one of canWait ? [tally, slowTally] : [tally])
    findings.push(...findFailures(one, 'while it drained'))
  return judge(subject, launched, findings, tally)
}

/** Far clients ask again at once on their connections, also after what was under way at the signal; so does NGINX, far away. */
async function drainOverLink(subject: AppSubject): Promise<string[]> {
  const { role, absent } = subject.app
  const launched = await subject.launch({ env: { ...NEVER_SHED, ...PATIENT } })
  if (closesIdle(subject, launched)) return []
  const target = await subject.link(launched.target)
  const front = await subject.front(await subject.link(launched.target))
  const paths = role === 'ssr' ? ['/?items=200'] : [LIGHT[role]]
  if (role === 'ssr' && !absent.includes('stream')) paths.push('/stream?delay=500')
  const groups = paths.flatMap((path) => [
    subject.clients({ target, path, kept: 10, pauseMs: 0, untilClosed: true }),
    subject.clients({ target: front, path, kept: 10, pauseMs: 0, statuses: [200, REFUSED] }),
  ])
  const allResponded = () => groups.every(({ responded }) => responded >= 20)
  await until('far clients have not had 20 responses each way', allResponded)
  const findings = await findBadEnding(launched, 0)
  const tallies = await Promise.all(groups.map((clients) => clients.stop()))
  findings.push(...tallies.flatMap((tally) => findFailures(tally, 'over a link while it drained')))
  // NGINX sends a GET again, but not a POST.
  const again = subject.errors().match(/prematurely closed|reset by peer/g)?.length ?? 0
  if (again > 0) findings.push(`NGINX met a connection that was closed as idle ${again} times.`)
  return judge(subject, launched, findings, ...tallies)
}

/**
 * Busy clients open another connection as soon as they are told to, until one is refused. If they are told while the app still listens, some
 * come back just before it stops, and are reset.
 */
async function drainWhileClientsReturn(subject: AppSubject): Promise<string[]> {
  const launched = await subject.launch({ env: { ...NEVER_SHED, ...PATIENT, SHUTDOWN_DELAY_MS: '1000' } })
  if (closesIdle(subject, launched)) return [] // and it never tells them
  const { target } = launched
  const clients = subject.clients({
    target,
    path: LIGHT[subject.app.role],
    kept: 32,
    pauseMs: 0,
    untilRefused: true,
  })
  await until('the clients have not had 500 responses', () => clients.responded >= 500)
  const findings = await findBadEnding(launched, 0)
  const tally = await clients.ended
  findings.push(...findFailures(tally, 'while it drained and its clients came back'))
  return judge(subject, launched, findings, tally)
}

/** Clients that open connections go on until readiness fails, as a load balancer does; the port is open until then. */
async function drainAfterDelay(subject: AppSubject): Promise<string[]> {
  const launched = await subject.launch({ env: { ...NEVER_SHED, ...PATIENT, SHUTDOWN_DELAY_MS: '3000' } })
  const clients = { path: LIGHT[subject.app.role], kept: 5, fresh: 5 }
  const direct = subject.clients({ target: launched.target, ...clients })
  const proxied = subject.clients({ target: await subject.front(launched.target), ...clients })
  const bothResponded = () => direct.responded >= 100 && proxied.responded >= 100
  await until('one of both ways has not had 100 responses', bothResponded)
  const ending = findBadEnding(launched, 0)
  await untilUnready(launched)
  const [tally, proxiedTally] = await Promise.all([direct.stop(), proxied.stop()])
  const findings = [
    ...(await ending),
    ...findFailures(tally, 'before readiness failed'),
    ...findFailures(proxiedTally, 'behind NGINX, before readiness failed'),
    ...findCrossed(proxiedTally, 'behind NGINX'),
  ]
  return judge(subject, launched, findings, tally)
}

/** A person who does not want to wait sends the signal again. */
async function insist(subject: AppSubject): Promise<string[]> {
  const launched = await subject.launch({ env: { SHUTDOWN_DELAY_MS: '120000' } })
  void launched.stop()
  await untilUnready(launched)
  return findBadEnding(launched, 1, 30_000)
}

/** Readiness fails, or all is over too soon. */
function untilUnready({ child, target }: Launch): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const isUnready = async () => hasEnded() || (await ask(target, '/readyz')).status === 503
  return until('readiness has not failed', isUnready)
}

/** Whether it is an NGINX before 1.27.4, which closes idle client connections at once when it stops. */
function closesIdle({ nginx }: AppSubject, { ready }: Launch): boolean {
  return ready.nginx !== undefined && !nginx.keepaliveMinTimeout
}

/** Its log must be silent, and no kept connection ends while a request is on its way. */
function judge(subject: AppSubject, launched: Launch, findings: string[], ...tallies: Tally[]): string[] {
  const isError = (line: string) => /"level":[56]0/.test(line) || /^\s+at /.test(line)
  const error = launched.output().split('\n').find(isError)
  if (error !== undefined) findings.push(`It logged an error: ${error}`)
  if (closesIdle(subject, launched)) return findings
  return [...findings, ...tallies.flatMap((tally) => findCrossed(tally, 'while it drained'))]
}
