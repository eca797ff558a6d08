/**
 * `node bench/scripts/cluster.ts [--part NAME] [options]`: is a race on this cluster right? The options are those of `pnpm bench --kubernetes`.
 * - `generators`: two generators against one, in turn on the same launches. The ratio of rates should hold 1.
 * - `agent`: slices with the agent's accounts against slices without, on the same launches.
 * - `latency`: a server that responds after 50 ms, under the load of two generators. Counts must be exact sums.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createProgress } from '@startgrid/cli/progress.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { VoidLoadError } from '@startgrid/loadgen'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { readOptions } from '../src/cli/options.ts'
import { createStartgridDriver } from '../src/drivers/create.ts'
import type { StartgridDriver } from '../src/drivers/startgrid.ts'
import type { Environment } from '../src/environments/environment.ts'
import { openKubernetes } from '../src/environments/kubernetes/environment.ts'
import { generatorPod } from '../src/environments/kubernetes/pods.ts'
import { beginRun } from '../src/environments/kubernetes/run.ts'
import { startPod } from '../src/environments/kubernetes/start.ts'
import { createResult } from '../src/measure/run.ts'
import type { CellSpec, ClusterRecord } from '../src/model/result.ts'
import { WORKLOADS } from '../src/plan/workloads.ts'

const PARTS = ['generators', 'agent', 'latency']
const SLICE_MS = 250
const WARM_MS = 2000

/** One way to load the same server. */
interface Way {
  name: string
  driver: StartgridDriver
  accounts: boolean
}

async function main(): Promise<void> {
  const { values, tokens } = parseArgs({
    strict: false,
    tokens: true,
    options: {
      part: { type: 'string', multiple: true },
      launches: { type: 'string', default: '6' },
      pairs: { type: 'string', default: '24' },
    },
  })
  const own = new Set(['part', 'launches', 'pairs'])
  const words = tokens.flatMap((token) => {
    if (token.kind !== 'option' || own.has(token.name))
      return token.kind === 'positional' ? [token.value] : []
    return [token.rawName, ...(token.value === undefined ? [] : [token.value])]
  })
  const options = readOptions([...words, '--kubernetes', '--only', 'node/hello', '--topology', 'direct'])
  const { cells, cluster: record } = createResult(options, 'rate', '')
  if (record === null) return
  const parts = values.part === undefined ? PARTS : (values.part as string[])
  const progress = createProgress()
  const { signal } = new AbortController()
  record.generators = Math.max(2, record.generators)
  const warn = ({ kind }: { kind: string }) => progress.say(`(${kind})`)
  const environment = await openKubernetes(cells, record, { progress, signal, warn, download: false })
  const [both, one, bare] = await Promise.all([
    createStartgridDriver(environment.generator),
    createStartgridDriver(alone(environment)),
    createStartgridDriver(alone(environment)),
  ])
  try {
    const size = { launches: Number(values.launches), pairs: Number(values.pairs) }
    const first: Way = { name: 'one generator', driver: one, accounts: true }
    if (parts.includes('latency')) await delay(record, both)
    if (parts.includes('generators'))
      await compare(environment, cells, first, { name: 'two generators', driver: both, accounts: true }, size)
    if (parts.includes('agent')) {
      const without = { name: 'no accounts', driver: bare, accounts: false }
      await compare(environment, cells, without, { ...first, name: 'accounts' }, size)
      const { cpuSeconds, seconds } = record.agent
      print(`The agent used ${(cpuSeconds * 1000).toFixed(0)} ms of CPU in ${seconds.toFixed(1)} s of load.`)
    }
    if (record.voided.length > 0) print(`${record.voided.length} loads did not count: ${record.voided[0]}.`)
  } finally {
    await Promise.all([both, one, bare].map((driver) => driver.stop()))
    await environment.close()
    progress.stop()
  }
}

function alone({ generator }: Environment): Environment['generator'] {
  return { ...generator, team: generator.team?.slice(0, 1) ?? [] }
}

/** Loads the same launches in both ways in turn, in random order, and prints the ratio of rates with its 95 % interval over launches. */
async function compare(
  environment: Environment,
  cells: readonly CellSpec[],
  under: Way,
  over: Way,
  { launches, pairs }: { launches: number; pairs: number },
): Promise<void> {
  const [cell] = cells
  if (cell === undefined) return
  const random = createRandom(1)
  const logs: number[] = []
  for (let launch = 0; launch < launches; launch++) {
    const servers = await environment.startServers([cell])
    const target = servers.target(cell)
    if (target === undefined) throw new Error(servers.whyMissing(cell))
    const load = async ({ driver, accounts }: Way, durationMs: number): Promise<number> => {
      let end: Awaited<ReturnType<typeof servers.beginAccount>> | undefined
      const onPhase = async (phase: string) => {
        if (phase === 'open') end = await servers.beginAccount(cell, driver)
        else await end?.()
      }
      const { path, expect } = WORKLOADS.hello
      const body = { status: 200, body: expect, checkEvery: 100 }
      const plan = { target, path, connections: cell.connections, durationMs, expect: body }
      const { rate, errors } = await untilItCounts(() =>
        driver.run({ ...plan, ...(accounts && { onPhase }) }),
      )
      if (Object.keys(errors).length > 0) throw new Error(`Requests failed: ${JSON.stringify(errors)}`)
      return rate
    }
    for (const way of [under, over]) await load(way, WARM_MS)
    const ratios: number[] = []
    for (let pair = 0; pair < pairs; pair++) {
      const rates = new Map<Way, number>()
      for (const way of shuffle([under, over], random)) rates.set(way, await load(way, SLICE_MS))
      ratios.push(Math.log((rates.get(over) ?? 0) / (rates.get(under) ?? 1)))
    }
    await servers.stop()
    logs.push(mean(ratios))
    print(`launch ${launch + 1}: ${Math.exp(mean(ratios)).toFixed(3)}`)
  }
  const half = tQuantile(0.975, logs.length - 1) * Math.sqrt(sampleVariance(logs) / logs.length)
  const ends = [mean(logs) - half, mean(logs), mean(logs) + half].map((log) => Math.exp(log).toFixed(3))
  print(
    `Rate of ${over.name} over ${under.name}: ${ends[1]}, 95 % ${ends[0]} to ${ends[2]}, ${logs.length} launches.`,
  )
}

const RUNS = 5
const REQUESTS = 1001
/** Few, because they all come back at the same time: the last of 64 would wait for 63 others. */
const SLOW_CONNECTIONS = 16

/** Counts what it responds to, and says so on another path. */
const SLOW = `
let count = 0
require('node:http').createServer((request, response) => {
  if (request.url !== '/slow') return response.end(String(count))
  count++
  setTimeout(() => response.end('hi'), 50)
}).listen(3000)`

async function delay(record: ClusterRecord, driver: StartgridDriver): Promise<void> {
  const cluster = new Cluster(record.namespace, record.context ?? undefined)
  const run = await beginRun(cluster)
  try {
    const node = record.nodes.find(({ role }) => role === 'servers')?.name ?? ''
    const body = generatorPod(run.metadata('slow', 'servers'), { node })
    const [container] = body.spec?.containers ?? []
    if (container === undefined) return
    container.command = ['node', '--eval', SLOW]
    container.startupProbe = { tcpSocket: { port: 3000 }, periodSeconds: 1, failureThreshold: 60 }
    const { pod } = await startPod(cluster, body, { signal: new AbortController().signal })
    const host = pod.status?.podIP ?? ''
    const target = { host, port: 3000 }
    const name = pod.metadata?.name ?? ''
    const ask = `fetch('http://127.0.0.1:3000/').then((r) => r.text()).then((text) => process.stdout.write(text))`
    const counted = async () => Number((await cluster.run(name, 'loadgen', ['node', '--eval', ask])).stdout)
    await untilItCounts(() =>
      driver.offer({ target, path: '/slow', connections: SLOW_CONNECTIONS, durationMs: WARM_MS }),
    )
    for (let n = 1; n <= RUNS; n++) {
      const [load, served, loads] = await untilItCounts(async () => {
        const before = await counted()
        const voided = record.voided.length
        const one = await driver.offer({
          target,
          path: '/slow',
          connections: SLOW_CONNECTIONS,
          requests: REQUESTS,
        })
        return [one, (await counted()) - before, record.voided.length - voided + 1] as const
      })
      const parts = load.threads.map(({ requests }) => requests)
      const { p50, p99 } = load.latency
      print(
        `run ${n}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms; ${load.requests} requests = ${parts.join(' + ')}; the server counted ${served} in ${loads === 1 ? 'this load' : `this load and ${loads - 1} that did not count`}`,
      )
      await sleep(200)
    }
  } finally {
    await run.end()
  }
}

/** On a busy machine many loads do not count, because a generator began late. */
const TRIES = 20

async function untilItCounts<Value>(offer: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await offer()
    } catch (error) {
      if (!(error instanceof VoidLoadError) || tries === TRIES) throw error
    }
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

await main()
