import {
  type Asked,
  type Command,
  type Experiment,
  type LoadRace,
  nameAsked,
  type RunningServer,
  type System,
  type Workload,
} from '../model/experiment.ts'

/** A request, and how often it is drawn among others. */
export type Weighted = Asked & { weight?: number }

/** What `pnpm bench race` is asked to compare, as an experiment. */
export interface RaceOptions {
  systems: readonly RaceSystem[]
  /** What is asked: a race each, or with weights one race of all. */
  requests: readonly Weighted[]
  connections: number
  /** Requests per second of the open loop; undefined: found in the first heat. */
  rate?: number | undefined
}

/** Of short heats: many launches say more than long ones. */
export const RACE_SETTINGS = { slices: 16, sliceMs: 50, openLoop: { minMs: 300, maxMs: 1500 } }

/** Either a command or a server that runs already. */
export interface RaceSystem {
  name: string
  command?: Command
  running?: RunningServer
  /** What it was checked out from. */
  commit?: string
}

/** Systems in the order in which they were named: the first is what the others are compared with. */
export function createRace({ systems, requests, connections, rate }: RaceOptions): Experiment {
  const names = systems.map(({ name }) => name)
  const frame = {
    systems: names,
    connections,
    openLoop: names,
    ...(rate !== undefined && { openRate: rate }),
  }
  const races = workloadsOf(requests).map((workload): [string, LoadRace] => [
    nameOf(workload),
    { ...frame, workload },
  ])
  return {
    name: 'race',
    systems: Object.fromEntries(systems.map((one) => [one.name, systemOf(one)])),
    races: Object.fromEntries(races),
    claims: [],
  }
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

function systemOf({ name, commit: _, ...how }: RaceSystem): System {
  // A server that waits for a database is measured as well: CPU per request then decides.
  return { title: name, serverBound: false, ...how }
}

const LONGEST_NAME = 30

/**
 * What tells systems apart in what was typed: `before` and `after` of `node before.js` and `node after.js`. Equal ones are numbered.
 * @param lines commands and addresses
 */
export function namesOf(lines: readonly string[]): string[] {
  const words = lines.map((line) => line.trim().split(/\s+/))
  const [first = []] = words
  const sameAt = (at: (own: readonly string[]) => string | undefined) =>
    words.every((own) => at(own) === at(first))
  const shortest = Math.min(...words.map(({ length }) => length))
  let start = 0
  while (start < shortest - 1 && sameAt((own) => own[start])) start++
  let end = 0
  while (end < shortest - start - 1 && sameAt((own) => own.at(-1 - end))) end++
  const parts = words.map((own) => own.slice(start, own.length - end).join(' '))
  const bare = parts.map((part) => part.replace(/^.*\//, '').replace(/\.\w+$/, '') || part)
  const chosen = new Set(bare).size === new Set(parts).size ? bare : parts
  const short = chosen.map((name) => shorten(name))
  return short.map((name, index) => {
    const before = short.slice(0, index).filter((one) => one === name).length
    return before === 0 ? name : `${name}#${before + 1}`
  })
}

function shorten(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** A command without the values of variables that it sets: they may be secret. */
export function withoutValues(line: string): string {
  return line.replace(/(^|[\s;&|(])([A-Za-z_]\w*)=(?:'[^']*'|"[^"]*"|[^\s;&|)]*)/g, '$1$2=…')
}
