import { Agent, get, type IncomingMessage } from 'node:http'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoadGenerator, type LoadPlan, startGenerator, sumErrors, type Target } from '@startgrid/loadgen'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import type { Figures, ProbeContext, System } from '../../src/model/experiment.ts'
import { beginAccount, serversBeside } from '../account.ts'

/** Long runs of one system, which nobody interrupts: entries of a cache would expire between the slices of a race. */

/** How a cache is asked: requests per second, for how long a response is valid, and how many URLs there are. */
export interface Point {
  rate: number
  seconds: number
  urls: number
}

/** What is asked: the same page under so many URLs, each valid for so many seconds. */
export function pathOf({ seconds, urls }: Omit<Point, 'rate'>): string {
  return `/page?for=${seconds}&n=${urls === 1 ? '1' : `{int:1-${urls}}`}`
}

/** What is always found in the cache, once it was stored. */
export const STORED = pathOf({ seconds: 3600, urls: 1 })

/** What NGINX asks the app for and stores, each time: what happens to an entry that has expired. */
export function missing(system: System): System {
  if (system.nginx === undefined) throw new Error(`${system.title} has no cache.`)
  return { ...system, nginx: { ...system.nginx, lines: `${system.nginx.lines} proxy_cache_bypass 1;` } }
}

/**
 * The part of requests that miss, for arrivals at random. NGINX compares whole seconds: what was stored in second k is valid through second k + seconds. The
 * next request for it, after the mean time of its URL, stores it again.
 */
export function missesOf({ rate, seconds, urls }: Point): number {
  const perUrl = rate / urls
  const cycle = seconds + 1 + 1 / Math.expm1(perUrl)
  return 1 / (perUrl * cycle)
}

/** Until React is compiled: the first thousand pages cost a third more, and at a low rate they would be the whole measurement. */
const COMPILE_MS = 2500

/** NGINX stores none of these. Each has a URL of its own, so no lock makes one wait. */
const NEW_PAGES = pathOf({ seconds: 0, urls: 1_000_000 })

/** Until all URLs are in their cycles. */
const FILL_MS = 4000

/** A multiple of the cycles of 2 and 5 seconds, which all URLs begin together. */
const LONG_MS = { quick: 4000, full: 10_000 } as const
const PART_MS = { quick: 1500, full: 5000 } as const

const CONNECTIONS = 16

/** What a request costs at a point, and how many reach the app, in one long open loop. */
export function measurePoint(system: System, point: Point, context: ProbeContext): Promise<Figures> {
  const load = { path: pathOf(point), rate: point.rate, connections: CONNECTIONS }
  const durationMs = LONG_MS[context.quick ? 'quick' : 'full']
  return withRun(system, context, async ({ offer }) => {
    await offer({ path: NEW_PAGES, connections: CONNECTIONS, durationMs: COMPILE_MS })
    await offer({ ...load, durationMs: FILL_MS, seed: 1 })
    const { cpu, origin } = await offer({ ...load, durationMs, seed: 2 })
    return { ...cpu, origin }
  })
}

/**
 * The same, computed from what hits and misses cost when they are alone, each as often as it comes at this point: NGINX gets all requests, the app those that
 * miss. A server that sleeps for longer between two requests takes more CPU for each.
 */
export async function computePoint(system: System, point: Point, context: ProbeContext): Promise<Figures> {
  const durationMs = PART_MS[context.quick ? 'quick' : 'full']
  const costOf = (one: System, load: Pick<LoadPlan, 'path' | 'rate'>) =>
    withRun(one, context, async ({ offer }) => {
      await offer({ path: load.path, connections: CONNECTIONS, durationMs: COMPILE_MS })
      return (await offer({ ...load, connections: CONNECTIONS, durationMs, seed: 2 })).cpu
    })
  const misses = missesOf(point)
  const hit = await costOf(system, { path: pathOf({ ...point, seconds: 3600 }), rate: point.rate })
  const miss = await costOf(missing(system), { path: pathOf(point), rate: point.rate * misses })
  if (hit.cpu === undefined || miss.cpu === undefined) return { origin: misses }
  return { cpu: misses * miss.cpu + (1 - misses) * hit.cpu, origin: misses }
}

/** As the source: ten connections, each with one request after the other, without a pause. */
export function measureRate(system: System, path: string, context: ProbeContext): Promise<Figures> {
  const load = { path, connections: 10, timeoutMs: 30_000 }
  return withRun(system, context, async (run) => {
    await run.offer({ ...load, durationMs: 1000 })
    const { rate, origin } = await run.offer({ ...load, durationMs: context.quick ? 3000 : 6000 })
    return { rate, origin }
  })
}

const CLIENTS = 100

/** All at once, when the stored response has expired, or for one that nobody asked for before. The app waits for 200 ms. */
export function measureStampede(system: System, isStored: boolean, context: ProbeContext): Promise<Figures> {
  return withRun(system, context, async ({ target, count }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
    const ask = async (path: string) => {
      const began = performance.now()
      const response = await respond(target, path, agent)
      return { waited: performance.now() - began, age: Date.now() - Number(response.headers['x-made']) }
    }
    try {
      // The connections, before the clock runs.
      await Promise.all(Array.from({ length: CLIENTS }, () => respond(target, '/count', agent)))
      const path = '/page?for=1&delay=200'
      if (isStored) await ask(path)
      // Through the second after the one in which it was stored.
      await sleep(2200, undefined, { signal: context.signal })
      const before = await count()
      const all = await Promise.all(Array.from({ length: CLIENTS }, () => ask(path)))
      return {
        origin: ((await count()) - before) / CLIENTS,
        longest: Math.max(...all.map(({ waited }) => waited)) / 1000,
        staleness: Math.max(...all.map(({ age }) => age)) / 1000,
      }
    } finally {
      agent.destroy()
    }
  })
}

interface Run {
  target: Target
  /** Pages that the app made so far. */
  count(): Promise<number>
  offer(plan: Omit<LoadPlan, 'target'>): Promise<{
    rate: number /** Requests that reached the app, per request. */
    origin: number
    cpu: Figures
  }>
}

/** @throws {Error} with a sentence, if it does not start or a response is wrong */
async function withRun(
  system: System,
  { signal, onForeign }: ProbeContext,
  measure: (run: Run) => Promise<Figures>,
): Promise<Figures> {
  const nginx = await findNginx()
  if (nginx.kind === 'none') throw new Error('there is no NGINX')
  const { target, stop } = await startSystem(system, { nginx })
  let generator: LoadGenerator | undefined
  try {
    generator = await startGenerator()
    const own = generator
    const count = async () => Number(await text(await respond(target, '/count')))
    const offer: Run['offer'] = async (plan) => {
      const before = await count()
      const account = beginAccount(serversBeside(own.pid))
      const expect = { body: { includes: ['50 of 50', '</html>'] } }
      const { requests, rate, errors } = await own.run({ ...plan, target, expect, signal })
      const used = account()
      signal.throwIfAborted()
      if (sumErrors(errors) > 0 || requests === 0)
        throw new Error(
          `${system.title} gave ${sumErrors(errors)} wrong responses beside ${requests} right ones`,
        )
      // The generator polls on a core of its own.
      if (used) onForeign(Math.max(0, used.foreign - 1 / availableParallelism()))
      return {
        rate,
        origin: ((await count()) - before) / requests,
        cpu: used ? { cpu: used.cpuSeconds / requests } : {},
      }
    }
    return await measure({ target, count, offer })
  } finally {
    await generator?.stop()
    await stop()
  }
}

/** The response, of which the body may be read. */
async function respond(target: Target, path: string, agent?: Agent): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const place = 'socketPath' in target ? target : { host: target.host, port: target.port }
  get({ ...place, path, ...(agent && { agent }) }, resolve).once('error', reject)
  const response = await promise
  if (agent !== undefined) await text(response)
  return response
}
