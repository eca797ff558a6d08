import { until } from '@startgrid/cli/until.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { createProblem, PROBLEM } from '@startgrid/shared/problem.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/security.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import { connect } from '@startgrid/wire/target.ts'
import type { AppFault, AppSubject } from '../app.ts'
import { ask, findFailures, LIGHT, outcomeOf, type Seen } from '../clients.ts'

/** What slow clients send at one byte per second, and seconds after which the last must be cut off: longer than the apps take alone (15 and 65). */
const WAYS = { headers: 45, body: 90 } as const
type Way = keyof typeof WAYS

const CLIENTS = 45

/** Clients that take or send one byte per second hold connections for hours unless they are cut off. */
export async function cutsOff(subject: AppSubject): Promise<string[]> {
  // NGINX limits only the time between two reads of a body, and Bun only the time without a byte.
  const ways: Way[] = subject.app.runtime === 'node' ? ['headers', 'body'] : ['headers']
  const findings = await Promise.all(ways.map((way) => judgeWay(subject, way)))
  return findings.flat()
}

/** Clients that are slow in one way, until the app has let go of them. */
async function judgeWay(subject: AppSubject, way: Way): Promise<string[]> {
  const path = LIGHT[subject.app.role]
  const limitS = WAYS[way]
  const { target } = await subject.launch({ env: NEVER_SHED, timeoutMs: 120_000 }) // many apps start at once
  const others = subject.clients({ target, path, kept: 1, fresh: 1, pauseMs: 500 })
  const sockets = new Set(Array.from({ length: CLIENTS }, () => connect(target)))
  for (const socket of sockets) {
    socket.on('error', () => {}).once('close', () => sockets.delete(socket)) // being cut off
    socket.resume().write(opening(way, path))
  }
  const drip = setInterval(() => {
    for (const socket of sockets) socket.write('a')
  }, 1_000)
  const findings: string[] = []
  try {
    await until('some are left', () => sockets.size === 0, limitS, 500)
  } catch {
    findings.push(
      `${limitS} s after ${CLIENTS} clients came, ${sockets.size} of their connections are open: ${way} at 1 byte/s.`,
    )
  } finally {
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  }
  return [...findings, ...findFailures(await others.stop(), `beside slow ${way}`)]
}

/** What they send at once: a beginning. */
function opening(way: Way, path: string): string {
  if (way === 'headers') return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n`
}

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
export const overload: AppFault = {
  name: 'overload',
  atOnce: 1,
  absent: ({ role }) => (role === 'ssr' ? undefined : 'Only pages are shed.'),
  async runOnApp(subject) {
    const { target, child } = await subject.launch({ env: { MAX_QUEUE_WAIT_MS: LIMIT_MS } })
    // njs renders ten times slower, and cannot refuse so many.
    const [path, kept] = subject.app.runtime === 'nginx' ? ['/?items=100', 60] : ['/?items=1000', 300]
    const findings = new Set<string>()
    let refusal: Seen | undefined
    // So many pages without a refusal: an app that sheds refuses the last of those who come together.
    const enough = 4 * kept
    let [before, served, probes] = [0, 0, 0]
    const neverSheds = Promise.withResolvers<void>()
    const onSeen = (seen: Seen) => {
      if (seen.status === 503) refusal ??= seen
      else if (refusal !== undefined && seen.status === 200) served += 1
      else if (refusal === undefined && seen.status === 200 && ++before === enough) neverSheds.resolve()
    }
    const crowd = subject.clients({ target, path, kept, pauseMs: PAUSE_MS, statuses: [200, 503], onSeen })
    const hasServed = async () => {
      const probe = await ask(target, '/livez')
      if (probe.status !== 200) findings.add(`/livez got ${outcomeOf(probe)}.`)
      probes += 1
      return before >= enough || (served >= SERVED && probes >= PROBES)
    }
    const sheds = until('it has not shed', hasServed, PATIENCE_S).catch(() => {})
    await Promise.race([sheds, neverSheds.promise]) // where nothing is shed, a probe waits for long as well
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
