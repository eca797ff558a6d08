import { until } from '@startgrid/cli/until.ts'
import { createProblem, PROBLEM } from '@startgrid/shared/problem.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/security.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import { ask, outcomeOf, type Seen } from '../clients/ask.ts'
import { findFailures } from '../clients/clients.ts'
import type { Fault } from '../subject.ts'

/** Milliseconds of pause after a response: a client that is refused asks three times per second. */
const PAUSE_MS = 300

/** Milliseconds that a page may wait in line: on any machine, the pages of all clients take several times as long. */
const LIMIT_MS = '100'

/** Pages that must be served after the first refusal, and health checks beside them. */
const SERVED = 5
const PROBES = 10

/** Seconds for which a refusal, those pages and, after the overload, another page are waited for. */
const PATIENCE_S = 30

/** More clients than an app can serve: it refuses pages early, serves the others and probes, and recovers when the clients leave. */
export const overload: Fault = {
  name: 'overload',
  atOnce: 1,
  absent: ({ role }) => (role === 'ssr' ? undefined : 'Only pages are shed.'),
  async run(subject) {
    const { target, child } = await subject.launch({ env: { MAX_QUEUE_WAIT_MS: LIMIT_MS } })
    // njs renders ten times slower, and cannot refuse so many.
    const [path, kept] = subject.app.runtime === 'nginx' ? ['/?items=100', 60] : ['/?items=1000', 300]
    const findings = new Set<string>()
    let refusal: Seen | undefined
    let [served, probes] = [0, 0]
    const onSeen = (seen: Seen) => {
      if (seen.status === 503) refusal ??= seen
      else if (refusal !== undefined && seen.status === 200) served += 1
    }
    const crowd = subject.clients({ target, path, kept, pauseMs: PAUSE_MS, statuses: [200, 503], onSeen })
    const hasServed = async () => {
      const probe = await ask(target, '/livez')
      if (probe.status !== 200) findings.add(`/livez got ${outcomeOf(probe)}.`)
      probes += 1
      return served >= SERVED && probes >= PROBES
    }
    await until('it has not shed', hasServed, PATIENCE_S).catch(() => {})
    if (refusal === undefined) findings.add('No page was refused with 503.')
    else if (served < SERVED) findings.add(`Fewer than ${SERVED} pages were served after a refusal.`)
    const tally = await crowd.stop()
    const isBack = async () => (await ask(target, path)).status === 200
    await until('no page is served', isBack, PATIENCE_S).catch(() =>
      findings.add('After the overload no page is served.'),
    )
    if (child.exitCode !== null) findings.add(`It ended with ${child.exitCode}.`)
    return [
      ...findings,
      ...findFailures(tally, 'during the overload'),
      ...(refusal === undefined ? [] : judgeRefusal(refusal)),
    ]
  },
}

/** A parameter, as Fastify adds one, changes nothing: RFC 9457 defines none. */
const MEDIA_TYPE = new RegExp(`^${PROBLEM.replace('+', '\\+')}(;|$)`)

/** A refused page is a problem with all headers of the contract, including `retry-after`. */
function judgeRefusal({ headers = [], body }: Seen): string[] {
  const expected = {
    ...SECURITY_HEADERS,
    'content-type': MEDIA_TYPE,
    'retry-after': /^[1-9]\d*$/,
    'x-request-id': /./,
  }
  const findings = Object.entries(expected).flatMap(([name, value]) => {
    const given = headerValue(headers, name) ?? ''
    const isRight = typeof value === 'string' ? given === value : value.test(given)
    return isRight ? [] : [`The 503 has ${name}: '${given}', not ${value}.`]
  })
  return body === JSON.stringify(createProblem(503))
    ? findings
    : [...findings, `The 503 has the body '${body.slice(0, 100)}'.`]
}
