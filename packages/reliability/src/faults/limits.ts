import { until } from '@startgrid/cli/until.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import type { AppSubject } from '../app.ts'
import { ask, outcomeOf, type Seen } from '../clients.ts'
import { found, judged, untested } from '../finding.ts'
import { openSenders } from './slow.ts'

/** Clients that send one byte per second hold connections for hours unless they are cut off. */
export async function tryLimits(subject: AppSubject) {
  const { app, routes } = subject
  const problems: string[] = []
  const { target } = await subject.launch({ env: NEVER_SHED })
  const judge = async (kind: 'half a request' | 'half a body', seconds: number) => {
    const opened = openSenders(target, routes.page.path, [kind])
    const left = () => opened.sockets.filter(({ destroyed }) => !destroyed).length
    const areCut = until('some are left', () => left() === 0, seconds, 500)
    await areCut.catch(() =>
      problems.push(`${left()} connections that send ${kind} are open after ${seconds} s.`),
    )
    opened.close()
  }
  // NGINX limits only the time between two reads of a body, and Bun only the time without a byte.
  const body = app.runtime === 'node' ? judge('half a body', 90) : undefined
  await Promise.all([judge('half a request', 45), body])
  return judged(problems, 'heads and bodies at a byte per second are cut off')
}

/** Pages that must be served after the first refusal. */
const SERVED = 5

/** Seconds for which a refusal, those pages and, after the overload, another page are waited for. */
const PATIENCE_S = 30

/** Milliseconds of a page alone: where it takes longer, all clients would wait for too long. */
const SLOW_MS = 500

/** @returns milliseconds of a page when nobody else asks */
async function longestPage(subject: AppSubject, path: string): Promise<number> {
  const { target } = await subject.launch({ env: NEVER_SHED })
  const times: number[] = []
  for (let asked = 0; asked < 10; asked++) {
    const beganAt = performance.now()
    await ask(target, path)
    times.push(performance.now() - beganAt)
  }
  await subject.end()
  // The first ones are not compiled yet.
  return Math.max(...times.slice(5))
}

/** More clients than an app can serve: it refuses pages early, serves the others and probes, and recovers when the clients leave. */
export async function tryOverload(subject: AppSubject) {
  const { app } = subject
  if (app.role !== 'ssr') return untested('only pages are shed')
  // njs renders ten times slower, and cannot refuse so many.
  const [path, count] = app.runtime === 'nginx' ? ['/?items=100', 60] : ['/?items=1000', 300]
  // The pages of all clients take many times as long. On a busy machine, a single one may take longer than 100 ms.
  const pageMs = await longestPage(subject, path)
  if (pageMs > SLOW_MS) return untested(`a page alone takes ${(pageMs / 1_000).toFixed(1)} s on this machine`)
  const maxMs = Math.max(100, 4 * pageMs)
  const { target, child } = await subject.launch({ env: { MAX_QUEUE_WAIT_MS: maxMs.toFixed() } })
  const problems = new Set<string>()
  /** A busy machine may explain these. */
  const late = new Set<string>()
  const listFor = ({ error }: Seen) => (error?.failure === 'timeout' ? late : problems)
  let refusal: Seen | undefined
  let served = 0
  const onSeen = (seen: Seen) => {
    if (seen.error !== undefined || (seen.status !== 200 && seen.status !== 503))
      listFor(seen).add(`GET ${path} gets ${outcomeOf(seen)} during the overload.`)
    else if (seen.status === 503) refusal ??= seen
    else if (refusal !== undefined) served += 1
  }
  const crowd = subject.clients({ target, requests: [{ target: path }], count, pauseMs: 300, onSeen })
  const deadline = performance.now() + 1_000 * PATIENCE_S
  for (let probes = 0; served < SERVED || probes < 10; probes++) {
    const probe = await ask(target, '/livez')
    if (probe.status !== 200) listFor(probe).add(`/livez got ${outcomeOf(probe)}.`)
    if (performance.now() > deadline) break
  }
  if (refusal === undefined) problems.add('No page was refused with 503.')
  else if (served < SERVED) late.add(`Fewer than ${SERVED} pages were served after a refusal.`)
  if (refusal && !/^[1-9]\d*$/.test(headerValue(refusal.headers ?? [], 'retry-after') ?? ''))
    problems.add('The 503 does not say retry-after.')
  await crowd.stop()
  const isBack = async () => (await ask(target, path)).status === 200
  await until('no page is served', isBack, PATIENCE_S).catch(() =>
    late.add('After the overload no page is served.'),
  )
  if (child.exitCode !== null) problems.add(`It ended with ${child.exitCode}.`)
  const right = 'some pages are refused, others and probes are served'
  return late.size > 0 ? [...late, ...problems].map((one) => found('fails', one)) : judged(problems, right)
}
