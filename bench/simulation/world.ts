import { createRandom } from '@startgrid/stats/random.ts'
import { averageCost, Core, createDraw, type Draw } from './machine.ts'
import { ROLES, type Role, type Scenario } from './scenarios.ts'

/** A machine with servers whose true costs are known. The method that measures it sees only what a real one would show. */

export type Topology = 'direct' | 'nginx'

/** The frameworks of a simulated race. */
export const APPS = ['node', 'fastify', 'express', 'koa', 'hono', 'h3', 'bun', 'njs'] as const

/**
 * CPU per request in microseconds: the default run of an AMD EPYC of 24 November 2026 (57a8ae46). An interpreted page is slow enough to need
 * long slices.
 */
const COSTS: Readonly<Record<Role, Readonly<Record<Topology, readonly number[]>>>> = {
  hello: {
    direct: [10.8, 13.1, 17.2, 17.6, 14.3, 13.2, 9.5, 39.2],
    nginx: [33.4, 38.6, 47, 48.5, 39.9, 37.9, 29.7, 66.5],
  },
  ssr: {
    direct: [117, 120, 133, 136, 138, 138, 135, 12_300],
    nginx: [173, 175, 196, 207, 204, 199, 204, 12_500],
  },
  status: {
    direct: [10.8, 12.3, 17.2, 17.1, 14, 12.9, 9.4, 37.2],
    nginx: [33.4, 37.4, 47.2, 47.3, 39.1, 38.5, 29.4, 64.3],
  },
}

/** What a race costs beside measuring, in seconds: for the start of all, and of each app. */
const START = { all: 0.4, each: 0.17 }

/** Opening connections and draining, in seconds per slice. */
const BETWEEN = 0.012

/** The part of their core that servers use under full load. */
const CORE_USE = 0.98

export interface Cell {
  id: string
  app: string
  role: Role
  topology: Topology
  /** The app that this one equals. */
  twinOf: string | null
  connections: number
}

/** What a slice shows. Seconds, and parts of 1. */
export interface Outcome {
  at: number
  seconds: number
  requests: number
  cpuSeconds: number
  /** The part of the time that others visibly had the core. */
  taken: number
}

/** What is true of a cell and never told to who measures it. */
interface Subject {
  cell: Cell
  logCost: number
  loading: number
  /** As of the scenario's `slice`. */
  noise: number
  /** Standard deviation of its launches. */
  launch: number
  cold: boolean
}

/** One machine with all its cells. The same seed gives the same one. */
export class World {
  readonly cells: readonly Cell[]
  /** Seconds since the run began. */
  now = 0
  readonly #scenario: Scenario
  readonly #subjects: ReadonlyMap<string, Subject>
  readonly #draw: Draw

  /** @param names of two servers instead of the grid: the second one costs `factor` times the first */
  constructor(scenario: Scenario, seed: number, pair?: { names: readonly [string, string]; factor: number }) {
    this.#scenario = scenario
    this.#draw = createDraw(createRandom(seed))
    const subjects =
      pair === undefined
        ? ROLES.flatMap((role) => createSubjects(scenario, role, this.#draw))
        : pair.names.map((id, index) =>
            pairSubject(
              scenario,
              id,
              ...(index === 0 ? ([1, 1] as const) : ([pair.factor, scenario.uneven] as const)),
            ),
          )
    this.cells = subjects.map(({ cell }) => cell)
    this.#subjects = new Map(subjects.map((subject) => [subject.cell.id, subject]))
  }

  /** Starts all apps of a role. */
  startHeat(role: Role): HeatOfWorld {
    const own = [...this.#subjects.values()].filter(({ cell }) => cell.role === role)
    return new HeatOfWorld(this, own, this.#scenario, this.#draw)
  }

  /** Whether its launches differ more than those of others. */
  isUneven(id: string): boolean {
    return (this.#subjects.get(id)?.launch ?? 0) > this.#scenario.launch
  }

  /**
   * The true difference of the log costs of two cells: on a free core, or on the machine as it is on average, where apps may suffer from a slow core
   * by different amounts.
   */
  truth(a: string, b: string, where: 'free' | 'now'): number {
    const one = this.#subjects.get(a)
    const other = this.#subjects.get(b)
    if (one === undefined || other === undefined) return Number.NaN
    const slow = where === 'now' ? averageCost(this.#scenario.speed) : 0
    return one.logCost - other.logCost + (one.loading - other.loading) * slow
  }
}

/** The one whose launches may differ more. */
const UNEVEN = APPS.indexOf('koa')

function createSubjects(
  { alike, loadings, slice, cold, launch, uneven }: Scenario,
  role: Role,
  draw: Draw,
): Subject[] {
  const entries = [...APPS.keys(), 0].map((index, place) => ({ index, twin: place === APPS.length }))
  const own = APPS.map(() => 1 + loadings * draw.normal())
  const subjects = entries.flatMap(({ index, twin }) =>
    (['direct', 'nginx'] as const).map((topology): Subject => {
      const name = `${APPS[index]}/${role}`
      const app = twin ? `${name}#2` : name
      const cell = {
        id: `${app} ${topology}`,
        app,
        role,
        topology,
        twinOf: twin ? name : null,
        connections: role === 'ssr' ? 8 : 64,
      }
      const cost = COSTS[role][topology][alike ? 0 : index] ?? Number.NaN
      const loading = own[index] ?? 1
      const spread = index === UNEVEN ? uneven * launch : launch
      return { cell, logCost: Math.log(cost / 1e6), loading, noise: slice[role], launch: spread, cold: false }
    }),
  )
  for (let count = 0; cold !== null && count < cold.cells; ) {
    const subject = subjects[Math.floor(draw.uniform(0, subjects.length))]
    if (subject === undefined || subject.cold) continue
    subject.cold = true
    count += 1
  }
  return subjects
}

/** One of two servers that nobody here wrote. */
function pairSubject({ slice, launch }: Scenario, app: string, factor: number, times: number): Subject {
  const id = `${app} direct`
  const cell = { id, app, role: 'hello', topology: 'direct', twinOf: null, connections: 32 } as const
  return {
    cell,
    logCost: Math.log((20 * factor) / 1e6),
    loading: 1,
    noise: slice.pair,
    launch: times * launch,
    cold: false,
  }
}

/** What happened to one launch. */
interface Launch {
  cost: number
  /** A lost part of the rate and of CPU, and whether the accounts show it. */
  outlier: { rateLoss: number; cpuGain: number; shown: boolean } | null
}

/** The apps of one role, started together. */
class HeatOfWorld {
  readonly #world: World
  readonly #scenario: Scenario
  readonly #draw: Draw
  readonly #core: Core
  readonly #startedAt: number
  readonly #subjects: ReadonlyMap<string, Subject>
  readonly #launches: ReadonlyMap<string, Launch>
  readonly #own: ReadonlyMap<string, number>
  readonly #loaded = new Map<string, number>()
  readonly #heat: number

  constructor(world: World, subjects: readonly Subject[], scenario: Scenario, draw: Draw) {
    const apps = [...new Set(subjects.map(({ cell }) => cell.app))]
    world.now += START.all + START.each * apps.length
    this.#world = world
    this.#scenario = scenario
    this.#draw = draw
    this.#core = new Core(scenario.speed, draw)
    this.#startedAt = world.now
    this.#subjects = new Map(subjects.map((subject) => [subject.cell.id, subject]))
    this.#launches = new Map(apps.map((app) => [app, startLaunch(scenario, draw)]))
    this.#own = new Map(subjects.map(({ cell }) => [cell.id, draw.normal()]))
    this.#heat = scenario.heat * draw.normal()
  }

  /**
   * Loads one cell for a while.
   * @param planned it is warm-up that was always planned. Cold cells are those for which that was not enough: they begin to get warm after it
   */
  slice(id: string, seconds: number, planned = false): Outcome {
    const subject = this.#subjects.get(id)
    if (subject === undefined) throw new Error(`There is no cell ${id} in this heat.`)
    const { floor, shocks, visible } = this.#scenario
    const draw = this.#draw
    const at = this.#world.now - this.#startedAt
    const launch = this.#launches.get(subject.cell.app)
    const outlier = launch?.outlier ?? null
    const visit = draw.chance(visible.part) ? Math.min(0.7, visible.share * draw.exponential()) : 0
    const taken = Math.min(0.95, visit + (outlier?.shown ? outlier.rateLoss : 0))
    const noise = Math.hypot(subject.noise * Math.sqrt(0.05 / seconds), floor) * draw.normal()
    const shock = draw.chance(shocks.part) ? shocks.cost * draw.exponential() : 0
    const logCost =
      subject.logCost +
      subject.loading * this.#core.cost(at, at + seconds) +
      this.#heat +
      this.#launchCost(subject, launch) +
      (planned ? 0 : this.#coldness(subject, seconds)) +
      noise +
      shock +
      Math.log1p((outlier?.cpuGain ?? 0) + visible.cost * visit)
    const cost = Math.exp(logCost)
    const hidden = outlier !== null && !outlier.shown ? outlier.rateLoss : 0
    const use = CORE_USE * (1 - taken) * (1 - hidden)
    // It ends with its last response, which is drained after the time is over.
    const requests = Math.ceil((seconds * use) / cost)
    const lasted = (requests * cost) / use
    this.#world.now += lasted + BETWEEN
    return { at, seconds: lasted, requests, cpuSeconds: requests * cost, taken }
  }

  /** Apps share most of a launch's cost between their topologies. */
  #launchCost({ cell, launch: spread }: Subject, launch: Launch | undefined): number {
    return spread * (SHARED * (launch?.cost ?? 0) + OWN * (this.#own.get(cell.id) ?? 0))
  }

  #coldness({ cell, cold: isCold }: Subject, seconds: number): number {
    const age = this.#loaded.get(cell.id) ?? 0
    this.#loaded.set(cell.id, age + seconds)
    const { cold } = this.#scenario
    if (cold === null || !isCold) return 0
    const mean =
      (cold.seconds / seconds) * (Math.exp(-age / cold.seconds) - Math.exp(-(age + seconds) / cold.seconds))
    return Math.log1p(cold.cost * mean)
  }
}

export type { HeatOfWorld }

/** Of a launch's standard deviation: what its direct and its proxied cell have in common, and what each has alone. */
const SHARED = 0.93
const OWN = 0.37

function startLaunch({ outliers }: Scenario, draw: Draw): Launch {
  const isOutlier = outliers !== null && draw.chance(outliers.part)
  return {
    cost: draw.normal(),
    outlier: isOutlier
      ? {
          rateLoss: draw.uniform(...outliers.rateLoss),
          cpuGain: draw.uniform(...outliers.cpuGain),
          shown: draw.chance(outliers.shown),
        }
      : null,
  }
}
