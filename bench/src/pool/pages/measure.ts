import { fileURLToPath } from 'node:url'
import { type Launch, launch } from '@startgrid/grid/launcher.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import type { PoolLibrary } from '@startgrid/worker-pool/config.ts'
import type { LoopDelay } from '@startgrid/worker-pool/event-loop.ts'
import { Accounts } from '../accounts.ts'
import { PageClient } from './client.ts'

/** The case that pools are for: pages that take milliseconds, and others who wait meanwhile. */
export interface PageSettings {
  framework: 'fastify' | 'express' | 'bun'
  library: PoolLibrary
  /** Workers. */
  size: number
  /** On the page, 0 to 1000. */
  items: number
  /** Milliseconds of each of the two loads, after a warm-up as long. */
  ms: number
  seed: number
}

export interface PageResult {
  inProcess: WayResult
  pooled: WayResult
  /** Pages per second that were offered for the latencies: half of what one process can do alone. */
  offered: number
}

/** One way to render, in a launch of its own. */
export interface WayResult {
  /** Pages per second with several requests in flight all the time. */
  capacity: number
  /** CPU seconds per page then, workers and all; null where the system does not tell. */
  cpuPerPage: number | null
  /** The part of all cores that others used then, 0 to 1; null where the system does not tell. */
  foreign: number | null
  /** Milliseconds of pages at the offered rate. */
  page: Percentiles
  /** Milliseconds of `GET /local` meanwhile, 50 per second: what everybody else waits. */
  local: Percentiles
  /** Milliseconds; what the server's own event loop says. */
  eventLoop: LoopDelay
  /** Milliseconds that the client was late at p99: so much of the other figures may be its own. */
  lag: number
}

export interface Percentiles {
  p50: number
  p99: number
}

interface PageOptions {
  signal?: AbortSignal | undefined
  /** @param part 0 to 1 */
  onProgress?: (part: number) => void
}

/** In flight while the capacity is sought. */
const CONNECTIONS = 16

const PROBES_PER_SECOND = 50

/**
 * Renders pages in process and in a pool, one launch each, under the same load.
 * @throws {LaunchError} if the app does not start, {PoolError} for a wrong response, or what `signal` was aborted with
 */
export async function measurePages(
  settings: PageSettings,
  { signal, onProgress }: PageOptions = {},
): Promise<PageResult> {
  const path = (route: string) => `/${route}?items=${settings.items}`
  let offered = 0
  const inProcess = await measureWay(settings, path('page'), signal, (capacity) => {
    offered = capacity / 2
    return offered
  })
  onProgress?.(0.5)
  const pooled = await measureWay(settings, path('pooled-page'), signal, () => offered)
  return { inProcess, pooled, offered }
}

/** @param chooseRate what to offer, knowing the capacity */
async function measureWay(
  settings: PageSettings,
  path: string,
  signal: AbortSignal | undefined,
  chooseRate: (capacity: number) => number,
): Promise<WayResult> {
  const launched = await launchPool(settings)
  const client = new PageClient(launched.ready.address)
  try {
    await client.saturate(path, CONNECTIONS, settings.ms, signal) // warm
    const accounts = new Accounts(launched.ready.pid)
    const { responses, rate } = await client.saturate(path, CONNECTIONS, settings.ms, signal)
    const cost = accounts.read()
    const latencies = await offerBoth(client, path, chooseRate(rate), settings, signal)
    signal?.throwIfAborted()
    return {
      capacity: rate,
      cpuPerPage: cost ? cost.cpuSeconds / responses : null,
      foreign: cost?.foreign ?? null,
      ...latencies,
    }
  } finally {
    client.close()
    await launched.stop(signal?.aborted ? 'SIGKILL' : 'SIGTERM')
  }
}

function launchPool({ framework, library, size }: PageSettings): Promise<Launch> {
  const directory = fileURLToPath(
    new URL('.', import.meta.resolve(`@startgrid/worker-pool-${framework}/package.json`)),
  )
  // A pool that is too slow shows in the latencies; what is refused would be in none.
  const env = { POOL: library, POOL_SIZE: String(size), POOL_QUEUE: '100000' }
  const runtime = framework === 'bun' ? 'bun' : 'node'
  return launch({ name: `${framework}/pool`, runtime, role: 'pool', directory }, { env })
}

async function offerBoth(
  client: PageClient,
  path: string,
  rate: number,
  { ms, seed }: PageSettings,
  signal: AbortSignal | undefined,
): Promise<Pick<WayResult, 'page' | 'local' | 'eventLoop' | 'lag'>> {
  await client.read('/event-loop') // it tells the delays since it was last asked
  const [pages, probes] = await Promise.all([
    client.offer(path, { rate, ms, random: createRandom(seed), signal }),
    client.offer('/local', { rate: PROBES_PER_SECOND, ms, random: createRandom(seed + 1), signal }),
  ])
  return {
    page: percentilesOf(pages.latencies),
    local: percentilesOf(probes.latencies),
    eventLoop: JSON.parse(await client.read('/event-loop')) as LoopDelay,
    lag: percentilesOf(probes.lags).p99,
  }
}

function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}
