import { until } from '@startgrid/cli/until.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { methodOf, type Request, requestBytes } from '@startgrid/wire/request.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'
import { ask, Client, LIGHT, outcomeOf } from '../clients.ts'
import { countFiles, type Footprint, footprintOf, measurable } from '../footprint.ts'
import type { Fault, Subject } from '../subject.ts'
import { oversizedRequests } from './limits.ts'

/** How often the app is looked at, each time after the same work. What it fills once, it has filled in the first two. */
const LOOKS = 10

/** Clients that ask for everything, and how often each does before a look. */
const CLIENTS = 3
const ROUNDS = 5

/** Clients that leave before a look, all at once: so many that pages wait in line in the app, and that some leave while theirs waits. */
const LEAVING = 100

/** Bytes that memory may grow by from one look to the next. At least 20 clients leave a page before each look, and a page that is kept has 30 kB and more. */
const GROWTH = 400_000

/** An app that has served every kind of request holds no more than before. */
export const leaks: Fault = {
  name: 'leaks',
  atOnce: 4,
  async run(subject) {
    const { app } = subject
    const launched = await subject.launch({ env: NEVER_SHED, ...measurable(app) })
    const idle = countFiles(launched)
    const findings = new Set<string>()
    const looks: Footprint[] = []
    while (looks.length < LOOKS && !subject.signal.aborted) {
      await work(subject, launched, findings)
      const open = () => (countFiles(launched) ?? 0) - (idle ?? 0)
      // An app needs a moment to see that clients have left.
      await until('files stay open', () => open() <= 0).catch(() => {})
      if (open() > 0) return [...findings, `${open()} files or sockets stay open when all clients have left.`]
      looks.push(await footprintOf(app, launched))
    }
    return [...findings, ...judgeGrowth(looks), ...judgeLog(launched)]
  },
}

async function work({ app }: Subject, { target }: Launch, findings: Set<string>): Promise<void> {
  const steps = stepsOf(app)
  // NGINX itself refuses these, and logs each as an error.
  const oversized = app.runtime === 'nginx' ? [] : oversizedRequests(LIGHT[app.role])
  const askForEverything = async () => {
    const client = new Client(target)
    for (let round = 0; round < ROUNDS; round++) {
      for (const { right, ...request } of steps) {
        const seen = await client.ask(request)
        if (!right.includes(seen.status ?? 0))
          findings.add(
            `${methodOf(request)} ${request.target} got ${outcomeOf(seen)}, not ${right.join(' or ')}.`,
          )
      }
    }
    client.close()
    // The fault `limits` judges what comes back.
    for (const { request } of oversized) await ask(target, request)
  }
  await Promise.all(Array.from({ length: CLIENTS }, askForEverything))
  const ways = abortsOf(app)
  const leaving = Array.from({ length: LEAVING / ways.length }, () => ways).flat()
  await Promise.all(leaving.map((way) => leave(target, way)))
}

function judgeGrowth(looks: readonly Footprint[]): string[] {
  const findings: string[] = []
  const steps = looks.slice(3).map(({ memory }, index) => memory - (looks[index + 2]?.memory ?? 0))
  // The median: once, V8 lets go of 5 MB of code, and a look may come amid a lazy compilation.
  const growth = steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 0
  if (growth > GROWTH)
    findings.push(
      `Memory grows by ${Math.round(growth / 1_000)} kB from look to look; ${GROWTH / 1_000} are allowed.`,
    )
  const first = looks[0]
  const last = looks.at(-1)
  if (first?.timers !== undefined && last?.timers !== undefined && last.timers > first.timers)
    findings.push(
      `${last.timers - first.timers} more timers run when all clients have left: rendering goes on.`,
    )
  return findings
}

function judgeLog({ output }: Launch): string[] {
  const isError = (line: string) =>
    /"level":[456]0|\[(?:error|crit|alert|emerg)\]/.test(line) || /^\s+at /.test(line)
  const errors = output().split('\n').filter(isError)
  return errors.length === 0 ? [] : [`It logged ${errors.length} errors, such as: ${errors[0]}`]
}

/** One request of a mixed load, and the statuses that are right. */
interface Step extends Request {
  readonly right: readonly number[]
}

const SCRIPT = ASSETS.find((url) => url.endsWith('.js')) ?? '/'

const PAGES: Readonly<Record<App['role'], readonly Step[]>> = {
  hello: [
    { target: '/', right: [200] },
    { target: '/json', right: [200] },
    { target: '/hello/Zo%C3%AB', right: [200] },
    { target: '/hello/', right: [404, 400] },
  ],
  ssr: [
    { target: '/?items=20', right: [200] },
    { target: '/?items=1001', right: [400] },
    { target: '/?items=0', right: [200] },
    { target: SCRIPT, headers: [['accept-encoding', 'br']], right: [200] },
    { target: '/assets/nothing.js', right: [404] },
  ],
  status: [{ target: '/_/status', right: [200] }],
}

const canStream = ({ role, absent }: App) => role === 'ssr' && !absent.includes('stream')

/** All that an app can be asked for in one round, right and wrong. */
function stepsOf(app: App): readonly Step[] {
  const own = PAGES[app.role]
  const target = own[0]?.target ?? '/'
  return [
    ...own,
    ...(canStream(app) ? [{ target: '/stream?delay=20', right: [200] }] : []),
    { target: '/livez', right: [200] },
    { target: '/readyz', right: [200] },
    { target: '/nowhere?a=b', headers: [['x-request-id', 'not one']], right: [404] },
    { target: '/%zz', right: [400, 404] },
    { target, method: 'HEAD', right: [200] },
    { target, method: 'OPTIONS', right: [204, 200, 404, 405, 501] },
    { target, method: 'POST', body: 'x'.repeat(1_000), right: [405, 404] },
  ]
}

/** Clients that leave before the end of the response; `sawBytes`: after its first bytes. */
interface ClientAbort {
  readonly path: string
  readonly sawBytes: boolean
}

/** The ways in which clients leave an app. */
function abortsOf(app: App): readonly ClientAbort[] {
  if (app.role !== 'ssr') return [{ path: PAGES[app.role][0]?.target ?? '/', sawBytes: false }]
  // njs takes half a second for 500.
  const page = `/?items=${app.runtime === 'nginx' ? 10 : 500}`
  const ways = [
    { path: page, sawBytes: false },
    { path: page, sawBytes: true },
    { path: SCRIPT, sawBytes: true },
  ]
  const stream = '/stream?delay=5000'
  return canStream(app)
    ? [...ways, { path: stream, sawBytes: true }, { path: stream, sawBytes: false }]
    : ways
}

/** Client aborts alternate: one closes its connection in order, the next one resets it. */
let aborts = 0

/** Sends a request and leaves. @throws {Error} if there is no connection, or no response to leave, within 60 s */
function leave(target: Target, { path, sawBytes }: ClientAbort): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(target)
  aborts += 1
  const isOrderly = aborts % 2 === 0
  const go = (): void => void (isOrderly ? socket.destroy() : socket.resetAndDestroy())
  socket.setTimeout(60_000, () => socket.destroy(new Error(`GET ${path}: no response to leave within 60 s.`)))
  socket.once('error', reject).once('close', () => resolve())
  socket.write(requestBytes({ target: path }, 'app'), () => {
    if (!sawBytes) setImmediate(go)
  })
  if (sawBytes) socket.once('data', go)
  return promise
}
