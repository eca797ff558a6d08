import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, openConnection } from '@startgrid/conformance/http/connection.ts'
import { headerValues } from '@startgrid/conformance/http/header.ts'
import type { HttpResponse } from '@startgrid/conformance/http/response.ts'
import { NoResponse } from '@startgrid/conformance/http/source.ts'
import type { App } from '@startgrid/grid/apps.ts'
import type { Launch, Target } from '@startgrid/grid/launcher.ts'
import { type LoadGenerator, type LoadPlan, type LoadResult, startGenerator } from '@startgrid/loadgen'
import { compareSamples, takeSample } from '@startgrid/machine/accounts/sample.ts'
import { readCpus } from '@startgrid/machine/cpus.ts'
import { serverPids } from '@startgrid/machine/processes.ts'
import { PROBLEM_JSON, problem } from '@startgrid/shared/http/problem.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import type { Fault, Outcome } from '../fault.ts'
import type { Subject } from '../subject/subject.ts'

/** The offered load, as a multiple of the app's capacity. */
const FACTOR = 3

/** The part of the capacity that must remain for correct responses. */
const GOODPUT = 0.8

/** Milliseconds for the response to a health check during the overload, and to a page after it. */
const LIVE_MS = 1_000
const RECOVERED_MS = 2_000

/** Milliseconds for which any response is waited for. */
const TIMEOUT_MS = 10_000

/** A full run judges the median of so many undisturbed attempts. */
const ATTEMPTS = 5

/** A pause is not an overload. After a pause of this many milliseconds, with this many connections, the app refuses no request. */
const PAUSE = { ms: 500, connections: 20 } as const

/** A short one takes the first without a finding, and judges neither times nor shares. */
const SHORT_ATTEMPTS = 3

/** Milliseconds of each load before the overload, and of the overload. njs renders few pages per second: a second is too short. */
function durationsFor({ app, size }: Subject): { calmMs: number; overloadMs: number } {
  if (size === 'full') return { calmMs: 1_500, overloadMs: 10_000 }
  return app.runtime === 'nginx' ? { calmMs: 1_500, overloadMs: 2_000 } : { calmMs: 750, overloadMs: 1_000 }
}

/** The part of the time for which others may keep the app from its core before its times say nothing about it. */
const MOST_DISTURBANCE = 0.2

/**
 * Open at most during the overload: few enough for the number of open files that most systems allow. Each is used every `TURN_S` seconds. That is
 * far longer than a queue of the limit (250 ms), and shorter than the 5 s after which NGINX closes a connection without a request.
 */
const MOST_CONNECTIONS = 2_000
const TURN_S = 2

/** The load exceeds the app's capacity: it refuses expensive requests early, serves the others, and recovers when the overload ends. */
export const overload: Fault = {
  name: 'overload',
  title: `load at ${FACTOR}× capacity`,
  expected: `ssr sheds with 503 and Retry-After, ${GOODPUT * 100} % of the capacity left, /livez within 1 s, recovers within 2 s; no 503 after a pause of ${PAUSE.ms} ms`,
  judged: ['ssr'],
  absent: ({ role }, size) =>
    role === 'ssr' || size === 'full'
      ? undefined
      : 'Only pages are shed: what happens to the other roles is measured in full runs.',
  run: (subject) => (isTimed(subject) ? runTimed(subject) : runOnce(subject)),
}

/** Times and shares are judged in full runs only: a test must not fail because a machine is slow. */
function isTimed({ app, size }: Subject): boolean {
  return app.role === 'ssr' && size === 'full'
}

/**
 * On a busy machine the capacity that was measured may be a fraction of the real one, so later attempts offer more.
 * @param most attempts; 1 or more
 */
export async function runOnce(subject: Subject, most = SHORT_ATTEMPTS): Promise<Outcome> {
  for (let attempts = 1, factor = FACTOR; ; attempts += 1, factor *= 2) {
    const { findings, figures } = await attempt(subject, factor)
    if (findings.length > 0 && attempts < most) continue
    return { findings, figures, notes: attempts === 1 ? [] : [`It took ${attempts} attempts.`] }
  }
}

async function runTimed(subject: Subject): Promise<Outcome> {
  const undisturbed: Measured[] = []
  const disturbed: Measured[] = []
  while (undisturbed.length < ATTEMPTS && disturbed.length < ATTEMPTS) {
    const measured = await attempt(subject)
    if (measured.isDisturbed) disturbed.push(measured)
    else undisturbed.push(measured)
  }
  const isDecided = undisturbed.length === ATTEMPTS
  const attempts = isDecided ? undisturbed : [...undisturbed, ...disturbed]
  const figures = medianFigures(attempts.map((measured) => measured.figures))
  const findings = [...new Set(attempts.flatMap((measured) => measured.findings))]
  if (isDecided) return { findings: [...findings, ...judgeFigures(figures, subject.app)], figures }
  const undecided = `Others used the machine in ${ATTEMPTS} attempts: their times and shares say nothing.`
  return { findings, figures, undecided }
}

/** The median of each figure by itself. */
export function medianFigures(all: readonly Figures[]): Figures {
  const entries = Object.keys(all[0] ?? {}).map((name) => {
    const values = all.map((figures) => figures[name as keyof Figures]).sort((a, b) => a - b)
    return [name, values[Math.floor(values.length / 2)]]
  })
  return Object.fromEntries(entries)
}

/** Heavy pages: what is measured is the app and not the generator, and a queue is long in time before it is long in sockets. */
function pathOf({ role, runtime }: App): string {
  if (role === 'hello') return '/json'
  if (role === 'status') return '/_/status'
  return runtime === 'nginx' ? '/?items=100' : '/?items=1000'
}

/** What one attempt showed; times in milliseconds, shares from 0 to 1. */
type Figures = Readonly<
  Record<
    | 'responses per s'
    | 'offered ×'
    | 'goodput'
    | 'shed'
    | 'p99 ms'
    | 'livez ms'
    | 'recovered ms'
    | '503 after a pause',
    number
  >
>

interface Measured {
  findings: string[]
  figures: Figures
  isDisturbed: boolean
}

async function attempt(subject: Subject, factor = FACTOR): Promise<Measured> {
  // A core each, where there are two.
  const [appCpu, generatorCpu] = readCpus().map(({ number }) => number)
  const isShared = generatorCpu === undefined
  const launched = await subject.launch({ cpu: isShared ? undefined : appCpu })
  const generator = await startGenerator({ cpu: generatorCpu })
  try {
    return await measure(subject, launched, generator, factor)
  } finally {
    await generator.stop()
    launched.child.kill('SIGKILL') // a second attempt has the core for itself
  }
}

/** A closed loop of 2 s, in which the app is stopped for a while. */
async function pause(generator: LoadGenerator, launched: Launch): Promise<Trial> {
  const { target, ready, child } = launched
  const loaded = load(generator, launched, { path: '/', connections: PAUSE.connections, durationMs: 2_000 })
  await sleep(1_000)
  const pids = serverPids({ target, ready }) ?? (child.pid === undefined ? [] : [child.pid])
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  await sleep(PAUSE.ms)
  for (const pid of pids) process.kill(pid, 'SIGCONT')
  return loaded
}

async function measure(
  subject: Subject,
  launched: Launch,
  generator: LoadGenerator,
  factor: number,
): Promise<Measured> {
  const { app } = subject
  const path = pathOf(app)
  const { calmMs, overloadMs: durationMs } = durationsFor(subject)
  const calm = { path, connections: 4, durationMs: calmMs }
  await load(generator, launched, calm) // compiles
  const before = await load(generator, launched, calm)
  const capacity = before.goodRate
  const paused = isTimed(subject) ? await pause(generator, launched) : undefined
  const witness = new Witness(launched.target, path)
  const rate = capacity * factor
  const connections = Math.min(MOST_CONNECTIONS, Math.max(20, Math.ceil(rate * TURN_S)))
  const plan = { path, rate, connections, durationMs, timeoutMs: TIMEOUT_MS }
  const { result, goodRate, disturbance } = await load(generator, launched, plan)
  const drainMs = Math.max(0, result.seconds * 1_000 - durationMs)
  const recoveredMs = drainMs + (await timeToPage(launched.target, path))
  const seen = await witness.end()
  const worst = Math.max(before.disturbance, disturbance, paused?.disturbance ?? 0)
  const isDisturbed = result.self.bound || worst > MOST_DISTURBANCE
  const figures = {
    'responses per s': Math.round(capacity),
    'offered ×': Number(((result.openLoop?.offered ?? 0) / capacity).toFixed(1)),
    goodput: Number((goodRate / capacity).toFixed(2)),
    shed: Number(((result.statuses[503] ?? 0) / result.requests).toFixed(2)),
    'p99 ms': Math.round(result.service.p99),
    'livez ms': Math.round(seen.worstMs),
    'recovered ms': Math.round(recoveredMs),
    '503 after a pause': paused?.result.statuses[503] ?? 0,
  }
  const { exitCode } = launched.child
  const findings = exitCode === null ? [] : [`It ended with ${exitCode} during the overload.`]
  if (app.role === 'ssr')
    findings.push(...judge(result, seen), ...(isDisturbed || !isTimed(subject) ? [] : judgeTimeouts(result)))
  return { findings, figures, isDisturbed }
}

/** What one load showed. */
interface Trial {
  readonly result: LoadResult
  /** Correct responses per second in which the app had a core or needed none. */
  readonly goodRate: number
  /** The part of the time in which the app had to wait for a core that others used, 0 to 1: its own threads are none. */
  readonly disturbance: number
}

async function load(
  generator: LoadGenerator,
  { target, ready }: Launch,
  plan: Omit<LoadPlan, 'target'>,
): Promise<Trial> {
  const ours = { app: serverPids({ target, ready }), proxy: [], generator: [], cores: null }
  const before = takeSample(ours)
  const result = await generator.run({ target, ...plan })
  const { serverWait } = compareSamples(before, takeSample(ours)).disturbance
  const disturbance = Math.min(0.9, serverWait ?? 0)
  const goodRate = (result.statuses[200] ?? 0) / (result.seconds * (1 - disturbance))
  return { result, goodRate, disturbance }
}

function judge({ errors, statuses }: LoadResult, { refusal, silences }: Sight): string[] {
  const findings: string[] = []
  for (const kind of ['connect', 'reset', 'parse'] as const)
    if (errors[kind] > 0) findings.push(`${errors[kind]} requests got no response (${kind}).`)
  const strange = Object.keys(statuses).filter((status) => status !== '200' && status !== '503')
  if (strange.length > 0) findings.push(`Pages had the status ${strange.join(', ')}, not 200 or 503.`)
  if (silences.length > 0) findings.push(`/livez failed ${silences.length} times: ${silences[0]}`)
  if (statuses[503] === undefined) findings.push('No page was refused with 503.')
  return refusal === undefined ? findings : [...findings, ...judgeRefusal(refusal)]
}

function judgeTimeouts({ errors }: LoadResult): string[] {
  return errors.timeout > 0 ? [`${errors.timeout} pages got no response within ${TIMEOUT_MS / 1_000} s.`] : []
}

/** What full runs ask of a server whose core nobody else used. njs cannot tell a pause from an overload. */
export function judgeFigures(
  figures: Pick<Figures, 'goodput' | 'livez ms' | 'recovered ms' | '503 after a pause'>,
  { runtime }: Pick<App, 'runtime'>,
): string[] {
  const { goodput, 'livez ms': livezMs, 'recovered ms': recoveredMs, '503 after a pause': refused } = figures
  const findings: string[] = []
  if (goodput < GOODPUT) findings.push(`Only ${goodput} of the capacity was left for pages.`)
  if (livezMs > LIVE_MS) findings.push(`/livez took ${livezMs} ms.`)
  if (recoveredMs > RECOVERED_MS) findings.push(`The first page came ${recoveredMs} ms after the overload.`)
  if (refused > 0 && runtime !== 'nginx')
    findings.push(`After a pause of ${PAUSE.ms} ms, ${refused} pages were refused.`)
  return findings
}

/** A parameter, as Fastify adds one, changes nothing: RFC 9457 defines none. */
const MEDIA_TYPE = new RegExp(`^${PROBLEM_JSON.replace('+', '\\+')}(;|$)`)

/** A refused page is a problem with all headers of the contract, including `retry-after`. */
function judgeRefusal({ headers, body }: HttpResponse): string[] {
  const expected = {
    ...SECURITY_HEADERS,
    'content-type': MEDIA_TYPE,
    'retry-after': /^[1-9]\d*$/,
    'x-request-id': /./,
  }
  const findings = Object.entries(expected).flatMap(([name, value]) => {
    const given = headerValues(headers, name).join(', ')
    const isRight = typeof value === 'string' ? given === value : value.test(given)
    return isRight ? [] : [`The 503 has ${name}: '${given}', not ${value}.`]
  })
  return body.toString() === problem(503) ? findings : [...findings, `The 503 has the body '${body}'.`]
}

/** The view of a load balancer and of a visitor during the overload. */
interface Sight {
  /** Of /livez. */
  readonly worstMs: number
  /** One reason for each request to /livez without a 200. */
  readonly silences: readonly string[]
  /** The first page that was refused. */
  readonly refusal: HttpResponse | undefined
}

/** Asks for /livez and for a page every 100 ms, on connections of their own. */
class Witness {
  readonly #target: Target
  readonly #path: string
  readonly #watching: Promise<Sight>
  #isOver = false

  constructor(target: Target, path: string) {
    this.#target = target
    this.#path = path
    this.#watching = this.#watch()
  }

  end(): Promise<Sight> {
    this.#isOver = true
    return this.#watching
  }

  async #watch(): Promise<Sight> {
    let worstMs = 0
    let refusal: HttpResponse | undefined
    const silences: string[] = []
    while (!this.#isOver) {
      const since = performance.now()
      const [probe, page] = await Promise.all([
        ask(this.#target, '/livez').finally(() => {
          worstMs = Math.max(worstMs, performance.now() - since)
        }),
        refusal === undefined ? ask(this.#target, this.#path) : undefined,
      ])
      const outcome = probe instanceof NoResponse ? probe.failure : probe.status
      // One that is late is seen in `worstMs`.
      if (outcome !== 200 && outcome !== 'timeout') silences.push(`${outcome}.`)
      if (page !== undefined && !(page instanceof NoResponse) && page.status === 503) refusal = page
      await sleep(100)
    }
    return { worstMs, silences, refusal }
  }
}

/** @returns milliseconds until a page is served; at most 10 s */
async function timeToPage(target: Target, path: string): Promise<number> {
  const since = performance.now()
  while (performance.now() - since < 10_000) {
    const response = await ask(target, path)
    if (!(response instanceof NoResponse) && response.status === 200) break
    await sleep(20)
  }
  return performance.now() - since
}

/** One request on a connection of its own. */
async function ask(target: Target, path: string): Promise<HttpResponse | NoResponse> {
  let connection: Connection | undefined
  try {
    connection = await openConnection(target, { timeoutMs: TIMEOUT_MS })
    return await connection.exchange({ target: path })
  } catch (error) {
    if (error instanceof NoResponse) return error
    throw error
  } finally {
    connection?.destroy()
  }
}
