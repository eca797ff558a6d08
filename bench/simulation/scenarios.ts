import type { Speed } from './machine.ts'

export const ROLES = ['hello', 'ssr', 'status'] as const
export type Role = (typeof ROLES)[number]

/** What a machine and its apps are like. Standard deviations are of logarithms. */
export interface Scenario {
  name: string
  speed: Speed
  /** Own noise of a slice of 50 ms, by role, and where only two servers take turns. It falls with the root of the length. */
  slice: Readonly<Record<Role | 'pair', number>>
  /** Noise of a slice of any length. */
  floor: number
  launch: number
  /** The launches of one app of each role (of two servers, of the second) differ so many times as much. */
  uneven: number
  heat: number
  /** How differently apps suffer from a slow core: 0 is all alike. */
  loadings: number
  /** Slices that cost far more than others: how often, and the mean of their log cost (exponential). */
  shocks: { part: number; cost: number }
  /** Neighbours that the kernel's accounts show: how often in a slice, the mean part of the core (exponential), and what that costs. */
  visible: { part: number; share: number; cost: number }
  /** Launches that are off as a whole: how often, how much rate they lose and CPU they cost, and how often the accounts show it. */
  outliers: { part: number; rateLoss: [number, number]; cpuGain: [number, number]; shown: number } | null
  /** Cells that cost more at first, decaying with their own load: how many per role, the part, and the seconds. */
  cold: { cells: number; cost: number; seconds: number } | null
  /** All apps cost the same: each difference that is found is false. */
  alike: boolean
}

/**
 * What slices, launches and visible neighbours do is much the same on all machines of which slices are kept (README.md, "The machines").
 * What differs is how often, and for how long, the core is slow.
 */
const COMMON = {
  slice: { hello: 0.05, ssr: 0.075, status: 0.05, pair: 0.03 },
  floor: 0.02,
  launch: 0.012,
  uneven: 1,
  heat: 0.035,
  loadings: 0,
  shocks: { part: 0.015, cost: 0.6 },
  visible: { part: 0.35, share: 0.2, cost: 0.25 },
  outliers: null,
  cold: null,
  alike: false,
}

/** A shared VM whose core has two speeds, a second or two each. The moments in which a quiet core is slow count as noise of slices here. */
export const NOISY: Scenario = {
  ...COMMON,
  name: 'noisy',
  slice: { hello: 0.15, ssr: 0.16, status: 0.15, pair: 0.15 },
  speed: { shared: 1.65, free: 0.55, cost: Math.log(1.57), sd: 0.09, seconds: 0.5 },
}

/** A VM that has nothing else to do: its core is slow only for moments. */
export const QUIET: Scenario = {
  ...COMMON,
  name: 'quiet',
  speed: { shared: 0.09, free: 0.7, cost: Math.log(1.57), sd: 0.05, seconds: 0.5 },
}

/** One launch in 75 is off by tens of percent, as two machines showed. Most of these have a neighbour that the accounts see. */
const OUTLIERS: Scenario['outliers'] = {
  part: 1 / 75,
  rateLoss: [0.3, 0.7],
  cpuGain: [0, 0.2],
  shown: 0.8,
}

/** As a server is that chooses another plan, or another layout of its memory, in each start. */
const UNEVEN = 4

const COLD: Scenario['cold'] = { cells: 2, cost: 0.4, seconds: 0.25 }

/** Every scenario by its name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = Object.fromEntries(
  [NOISY, QUIET].flatMap((one): [string, Scenario][] => [
    [one.name, one],
    [`${one.name}-loadings`, { ...one, loadings: 0.15 }],
    [`${one.name}-outliers`, { ...one, outliers: OUTLIERS }],
    [`${one.name}-cold`, { ...one, cold: COLD }],
    [`${one.name}-alike`, { ...one, alike: true }],
    [`${one.name}-uneven`, { ...one, uneven: UNEVEN }],
  ]),
)
