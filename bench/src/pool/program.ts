import { openPool } from './open-pool.ts'
import { type MessagePool, sendAll } from './pace.ts'
import { type Report, WARMUP } from './report.ts'
import type { PoolRun, PoolSettings } from './settings.ts'

/**
 * `node program.ts SETTINGS` or `bun program.ts SETTINGS`: measures one pool in this process. Lines of the output say how far it is, and at
 * last the result. It stays until its input ends, so that the accounts of all its processes can be read.
 */

/** Responses between two lines. */
const STEP = 10_000

let done = 0

process.stdin.resume().once('end', () => process.exit())
const settings = JSON.parse(process.argv[2] ?? '') as PoolSettings
const pool = await openPool(settings)
await sendAll(pool, WARMUP, { kind: 'in-flight', count: 32 * settings.size }, countReply)
report({ kind: 'begun' })
report({ kind: 'ended', run: await run(pool) })

async function run(pool: MessagePool): Promise<PoolRun> {
  const counts = new Map<number, number>()
  const startedAt = performance.now()
  const cpu = process.threadCpuUsage()
  const paced = await sendAll(pool, settings.messages, settings.pace, (worker) => {
    counts.set(worker, (counts.get(worker) ?? 0) + 1)
    countReply()
  })
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.threadCpuUsage(cpu)
  return {
    rate: settings.messages / seconds,
    seconds,
    perWorker: [...counts.values()].sort((one, other) => other - one),
    mainBusy: (user + system) / 1e6 / seconds,
    version: process.versions.bun ?? process.versions.node,
    ...paced,
  }
}

function countReply(): void {
  done++
  if (done % STEP === 0) report({ kind: 'progress', done })
}

function report(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
