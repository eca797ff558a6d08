import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { formatRatio } from '@startgrid/cli/numbers.ts'
import { capital, oneLine } from '@startgrid/cli/text.ts'
import { exactly } from '@startgrid/loadgen'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { CONNECTIONS as HELLO } from '../../src/experiment/profiles.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Claim, Measured, ProbeContext, ProbeRace, Study, System } from '../../src/model/experiment.ts'
import { lackOf } from '../lack.ts'
import { autocannonTwice, CONNECTIONS, compareJs, race, type Tool, wrkTwice } from './tools.ts'

/** Tools that say which of two servers is slower, tried on servers of which that is known; and wrk against our own generator. */

const TOOLS: Readonly<Record<string, { system: System; tool: Tool }>> = {
  race: { system: { title: 'race' }, tool: race },
  'compare.js': { system: { title: "Node core's compare.js", lacks: () => lackOf('wrk') }, tool: compareJs },
  autocannon: { system: { title: 'autocannon-compare' }, tool: autocannonTwice },
  wrk: { system: { title: 'wrk, two sittings', lacks: () => lackOf('wrk') }, tool: wrkTwice },
}

/** What each of them has for one comparison, in seconds. In the shorter one `race` has no verdict. */
const SECONDS = { quick: 10, full: 30 } as const

/** Rounds of a loop for each request. On the machine on which this was written, a request then took 29 µs of CPU, and half as much again with twice the rounds. */
const WORK = 8000

/** As many more rounds are about 1 % of a request; what they really cost is measured. */
const PERCENT = 167

/** In per cent, about. */
const LEVELS = [0, 1, 2, 3, 5, 10]

/** Six heats have all levels, in another order than the six before. */
export function plantedIn(heat: number): number {
  const [block, place] = [Math.floor((heat - 1) / LEVELS.length), (heat - 1) % LEVELS.length]
  return (shuffle(LEVELS, createRandom(block))[place] ?? 0) * PERCENT
}

const LOOP = 'bench/studies/instruments/subjects/loop'
const NEIGHBOUR = fileURLToPath(new URL('../../simulation/neighbour.ts', import.meta.url))

const command = (work: number) => `'${process.execPath}' ${LOOP}/src/server.ts ${work}`

/** One comparison. What a tool does wrong is a result. */
async function compare(name: string, { heat, quick, signal, onDetected }: ProbeContext): Promise<void> {
  const tool = TOOLS[name]?.tool
  if (tool === undefined) throw new Error(`There is no tool ${name}.`)
  const planted = plantedIn(heat)
  const guard = new Guard()
  const beganAt = performance.now()
  try {
    const said = await tool({
      ...{ guard, signal, cores: chooseCores(() => {}) ?? undefined },
      commands: [command(WORK), command(WORK + planted)],
      timeMs: SECONDS[quick ? 'quick' : 'full'] * 1000,
    })
    onDetected({ planted, seconds: (performance.now() - beganAt) / 1000, ...said })
  } catch (error) {
    signal.throwIfAborted()
    const seconds = (performance.now() - beganAt) / 1000
    onDetected({ planted, seconds, estimate: null, rules: [], failure: oneLine(error) })
  } finally {
    await guard.close()
  }
}

/** @param around what happens on the machine meanwhile */
const tried = (around: (compare: () => Promise<void>) => Promise<void>): ProbeRace => ({
  systems: Object.keys(TOOLS),
  expectedMs: SECONDS.full * 1000 + 1000,
  probe: async (name, context) => {
    await around(() => compare(name, context))
    return {}
  },
})

/** A program that takes a core three quarters of the time, in bursts of random length, and is gone afterwards. */
async function besideNeighbour(compare: () => Promise<void>): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const args = [NEIGHBOUR, '--two-state', '--seed', String(seed), '--seconds', '120']
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    await compare()
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

const loop = (title: string, work: number): System => ({
  title,
  app: { package: LOOP, role: String(work) },
  warmupMs: 1000,
  serverBound: false,
})

const APPS = ['node', 'fastify', 'express', 'koa', 'hono', 'bun'] as const
type App = (typeof APPS)[number]
const [BASE] = APPS

const app = (name: App): System => ({ title: name, app: { package: `apps/${name}`, role: 'hello' } })
const byWrk = (name: App) => `${name} by wrk`

const HELLOS: Readonly<Record<string, System>> = Object.fromEntries(
  APPS.flatMap((name): [string, System][] => [
    [name, app(name)],
    [byWrk(name), { ...app(name), title: byWrk(name), generator: 'wrk' }],
  ]),
)

const SIX = 'six apps'
const PLANTED = 'the loop'

/** See docs/studies/instruments.md. */
export const instruments: Study = {
  name: 'instruments',
  title: 'tools that say whether a server became slower',
  question: 'Does our generator get as many responses as wrk, and so the same ratios?',
  systems: {
    ...Object.fromEntries(Object.entries(TOOLS).map(([name, { system }]) => [name, system])),
    once: loop(`${WORK.toLocaleString('en-US')} rounds`, WORK),
    twice: loop(`${(2 * WORK).toLocaleString('en-US')} rounds`, 2 * WORK),
    ...HELLOS,
  },
  races: {
    quiet: tried((compare) => compare()),
    'beside a neighbour': tried(besideNeighbour),
    [PLANTED]: {
      systems: ['once', 'twice'],
      workload: { path: '/', expect: exactly('Hello World!') },
      connections: CONNECTIONS,
    },
    [SIX]: { systems: Object.keys(HELLOS), workload: WORKLOADS.hello, connections: HELLO.hello },
  },
  detection: {
    races: ['quiet', 'beside a neighbour'],
    planted: { race: PLANTED, over: 'twice', under: 'once', work: WORK },
  },
  claims: APPS.map(
    (name): Claim => ({
      id: `wrk-${name}`,
      says: `wrk gets as many responses of ${capital(name)} as our generator does`,
      ours: true,
      ...{ race: SIX, metric: 'rate', over: byWrk(name), under: name, published: [1, 1] },
      because: (measured) => ratiosOf(name, measured),
    }),
  ),
}

/** Over the first app, by either generator. */
function ratiosOf(name: App, { value }: Measured): string | null {
  if (name === BASE) return null
  const [ours, theirs] = [(one: App) => one, byWrk].map((by) => {
    const [rate, base] = [name, BASE].map((one) => value(SIX, by(one), 'rate'))
    return rate && base && rate / base
  })
  if (!ours || !theirs) return null
  return `Its rate over that of ${BASE} is ${formatRatio(ours)} by our generator and ${formatRatio(theirs)} by wrk.`
}
