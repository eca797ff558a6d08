import { type Asked, nameAsked } from '@startgrid/servers/request.ts'
import type { Experiment, LoadRace, System, Workload } from '../result/experiment.ts'

/** A request, and how often it is drawn among others. */
export type Weighted = Asked & { weight?: number }

/** What `pnpm bench race` is asked to compare, as an experiment. */
export interface RaceOptions {
  systems: readonly RaceSystem[]
  /** Whether the first system is raced against itself as well. */
  twin?: boolean
  /** What is asked: a race each, or with weights one race of all. */
  requests: readonly Weighted[]
  connections: number
  /** Requests per second of the open loop; undefined: found in the first heat. */
  rate?: number | undefined
}

/** Half of a heat starts and warms servers that need a second for it: more slices would say more, and fewer launches less. */
export const RACE_SETTINGS = { slices: 32, sliceMs: 50, openLoop: { minMs: 300, maxMs: 1500 } }

/** Either a command or a server that runs already. */
export type RaceSystem = Pick<System, 'command' | 'running' | 'ready' | 'commit' | 'tools'> & { name: string }

/** Systems in the order in which they were named: the first is what the others are compared with. */
export function createRace({ systems: given, requests, connections, rate, twin }: RaceOptions): Experiment {
  const [first] = given
  const itself = twin && first ? [{ ...first, name: `${first.name} itself`, twinOf: first.name }] : []
  const systems = [...given, ...itself].map(({ name, ...how }): [string, System] => {
    // A server that waits for a database is measured as well: CPU per request then decides.
    return [name, { title: name, serverBound: false, ...how }]
  })
  const names = systems.map(([name]) => name)
  const frame = { systems: names, connections, openLoop: names, ...(rate && { openRate: rate }) }
  const races: Record<string, LoadRace> = {}
  for (const workload of workloadsOf(requests)) {
    const name = nameOf(workload)
    let own = name
    for (let times = 2; own in races; times++) own = `${name} (${times})`
    races[own] = { ...frame, workload }
  }
  return { name: 'race', systems: Object.fromEntries(systems), races, claims: [] }
}

/** One that has a weight makes a mixture of all. */
function workloadsOf(requests: readonly Weighted[]): Workload[] {
  const [first] = requests
  if (first === undefined || requests.every(({ weight }) => weight === undefined))
    return requests.map(({ weight: _, ...asked }) => ({ ...asked, expect: {} }))
  const { weight: _, ...asked } = first
  return [
    { ...asked, expect: {}, mix: requests.map(({ path, weight = 1 }) => ({ path, weight, expect: {} })) },
  ]
}

/** `GET /`, or `GET 3:/api/items 1:/health` */
function nameOf({ mix, ...asked }: Workload): string {
  if (mix === undefined) return nameAsked(asked)
  return nameAsked({ ...asked, path: mix.map(({ path, weight }) => `${weight}:${path}`).join(' ') })
}
