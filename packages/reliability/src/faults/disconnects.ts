import { until } from '@startgrid/cli/until.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { type Launch, NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { type ClientAbort, leave } from '../clients/client-abort.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { countFiles, type Footprint, footprintOf, measurable } from '../subject/footprint.ts'
import type { Subject } from '../subject/subject.ts'

interface Share extends ClientAbort {
  /** Of ten aborts so many are of this kind. */
  readonly share: number
}

/** How many leave before the memory is looked at first: what an app fills once, it has filled. */
const WARM_UP = 200
const COUNTS = { short: 200, full: 10_000 } as const
/** So many that pages of ssr wait in line in the app, and that some clients leave while theirs waits. */
const AT_A_TIME = 100

/**
 * What memory may grow by, in bytes. The apps grew by at most 0.35 MB in a dozen short runs; a page that is not let go is 30 kB and
 * more, so 12 MB after 400.
 */
const GROWTH = { short: 2_000_000, full: 3_000_000 } as const

/** After client aborts, the app holds no resources for those clients. */
export const disconnects: Fault = {
  name: 'disconnects',
  title: 'clients leave while a page is streamed, rendered or downloaded',
  expected: 'rendering stops, no error line, no growth of memory or files, direct and behind NGINX',
  atOnce: 2,
  async run(subject) {
    const { app, size } = subject
    const launched = await subject.launch({ env: { ...NEVER_SHED, LOG_LEVEL: 'info' }, ...measurable(app) })
    const idle = countFiles(launched)
    await leaveBothWays(subject, launched, WARM_UP)
    await settle(launched, idle)
    const before = await footprintOf(app, launched)
    await leaveBothWays(subject, launched, COUNTS[size])
    await settle(launched, idle)
    const after = await footprintOf(app, launched)
    const growth = after.memory - before.memory
    return {
      findings: [
        ...judgeGrowth(before, after, idle, GROWTH[size]),
        ...judgeLog(launched),
        ...((await statusOf(launched.target, '/livez')) === 200
          ? []
          : ['Afterwards /livez does not respond.']),
      ],
      figures: { 'client aborts': 2 * COUNTS[size], 'growth, kB': Math.round(growth / 1000) },
    }
  },
}

function abortsOf({ role, absent, runtime }: App): Share[] {
  if (role === 'hello') return [{ path: '/json', sawBytes: false, share: 10 }]
  if (role === 'status') return [{ path: '/_/status', sawBytes: false, share: 10 }]
  const script = ASSETS.find((url) => url.endsWith('.js'))
  const canStream = !absent.includes('stream')
  // njs takes half a second for 500.
  const page = `/?items=${runtime === 'nginx' ? 10 : 500}`
  return [
    { path: '/stream?delay=5000', sawBytes: true, share: canStream ? 6 : 0 },
    { path: '/stream?delay=5000', sawBytes: false, share: canStream ? 1 : 0 },
    { path: page, sawBytes: false, share: 1 },
    { path: page, sawBytes: true, share: 1 },
    { path: script ?? '/', sawBytes: true, share: 1 },
  ]
}

async function leaveBothWays(subject: Subject, { target }: Launch, count: number): Promise<void> {
  await leaveAll(subject, target, count)
  if (subject.nginx === undefined || 'socketPath' in target) return
  const listen = { host: '127.0.0.1', port: 0 }
  const front = await subject.front([{ name: 'app', topology: 'nginx', listen, upstream: target }])
  await leaveAll(subject, front.addresses[0] ?? listen, count)
  // This also closes its connections to the app.
  await front.stop()
}

async function leaveAll({ app }: Subject, target: Target, count: number): Promise<void> {
  const aborts = abortsOf(app).flatMap((one) => Array.from({ length: one.share }, () => one))
  let left = 0
  const leaveNext = async (): Promise<void> => {
    while (left < count) {
      const abort = aborts[left++ % aborts.length]
      if (abort) await leave(target, abort)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, leaveNext))
}

/** Waits until the app has closed the connections of clients that left. What it keeps is judged later. */
async function settle(launched: Launch, idle: number | undefined): Promise<void> {
  if (idle === undefined) return
  await until('files or sockets stay open', () => (countFiles(launched) ?? 0) <= idle).catch(() => {})
}

function judgeGrowth(before: Footprint, after: Footprint, idle: number | undefined, bound: number): string[] {
  const findings: string[] = []
  const growth = after.memory - before.memory
  if (growth > bound)
    findings.push(`Memory grew by ${Math.round(growth / 1000)} kB, more than ${bound / 1000}.`)
  if (idle !== undefined && after.files !== undefined && after.files > idle)
    findings.push(`${after.files - idle} files or sockets stay open when all clients have left.`)
  if (after.timers !== undefined && before.timers !== undefined && after.timers > before.timers)
    findings.push(
      `${after.timers - before.timers} timers run on when all clients have left: rendering goes on.`,
    )
  return findings
}

function judgeLog(launched: Launch): string[] {
  const errors = launched
    .output()
    .split('\n')
    .filter((line) => /"level":[456]0|\[(?:error|crit|alert|emerg)\]/.test(line) || /^\s+at /.test(line))
  return errors.length === 0
    ? []
    : [`Clients that left caused ${errors.length} error lines, such as: ${errors[0]}`]
}
