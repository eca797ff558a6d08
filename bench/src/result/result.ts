import type { Role, Topology } from '@startgrid/grid/apps.ts'
import type { AllCores, Cores as FirstCores } from '@startgrid/machine/cores.ts'
import type { Machine, MachineWarning } from '@startgrid/machine/machine.ts'
import type { Versions } from '@startgrid/machine/provenance.ts'
import type { Experiment } from './experiment.ts'
import type { Analysis, Commit, PilotRecord } from './figures.ts'
import type { Heat } from './heat.ts'
import type { ProfiledStart } from './profile.ts'

/**
 * A run as it is stored. What was measured (`heats`) is kept apart from what follows from it (`analysis`).
 */
export interface Result {
  /** Of this format. */
  schema: 7
  /** ISO 8601, UTC. */
  startedAt: string
  /** ISO 8601, UTC; null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats the run, for a shell. */
  command: string
  /** What was measured, as data (`toldOf`): without functions, and without values that may be secret. */
  experiment: Experiment
  /** Of the random order of heats and slices. */
  seed: number
  machine: Machine
  versions: Versions
  /** Null if none was needed or found. */
  nginx: NginxVersion | null
  settings: Settings
  /** Part of this virtual machine's CPU that its host took meanwhile, 0 to 1; 0 where nobody knows. */
  stolen: number
  /** What all heats would have taken, in milliseconds: whole ten seconds; null if none was dropped. */
  enoughMs: number | null
  /** The most important first. */
  warnings: Warning[]
  cells: Cell[]
  /** Once per cell before the first heat. */
  conformance: ConformanceRecord[]
  /** Of races of commands; empty until they are measured. */
  pilots: PilotRecord[]
  /** In the order in which they ran. */
  heats: Heat[]
  /** With `--why`: starts of their own, in pairs. */
  profiles?: ProfiledStart[]
  /** With `--bisect`, if both ends differ. */
  search?: Commit[]
  /** Null before the first heat. */
  analysis: Analysis | null
}

/** What a reader must know: what is the matter and what to do, in a sentence or two. */
export interface Warning {
  kind:
    | MachineWarning['kind']
    | ('tools' | 'time' | 'not-saved' | 'race' | 'refused')
    // These follow from the figures; all others were seen while it ran.
    | ('shared-core' | 'external' | 'accounting' | 'disturbed' | 'rising' | 'rare')
  text: string
}

export interface NginxVersion {
  /** Where it was found: path or download. */
  kind: string
  version: string
  /** Its njs module; the engine is qjs (QuickJS) or njs (the old one). */
  njs: { version: string; engine: string } | null
}

/** What the contract's suite found on one cell. */
export interface ConformanceRecord {
  cell: string
  /** What is wrong, a line each; nothing if it conforms. */
  differences: string[]
}

/** Its title, with what makes it unlike others of that: `njs (qjs)`. */
export function nameOf({ title, engine }: Pick<Cell, 'title' | 'engine'>): string {
  return engine === null ? title : `${title} (${engine.split(' ', 1)[0]})`
}

/** A system in a race. */
export interface Cell {
  /** `fastify/hello direct`, of a twin `fastify/hello#2 direct`; of a study its race and system. */
  id: string
  /** Cells of one race are started together and compared with each other: in the grid, those of one role. */
  race: string
  /** Its name in the experiment. */
  system: string
  /** What is launched: `fastify/hello`, `fastify/hello#2` for its twin, the system of a study. */
  app: string
  /** As tables name it: the framework, `node#2` for a twin, or what a study calls it. */
  title: string
  /** The contract that it keeps; null where none covers it. */
  role: Role | null
  /** How requests reach it. */
  topology: Topology
  /** The `app` that this one equals (A/A); null for all others. */
  twinOf: string | null
  /** Of njs in the grid, `njs in NGINX 1.22.1`: unlike engines are never compared as one. Null for all others. */
  engine: string | null
  /** Method and path; null where a program of its own measures instead of load. */
  workload: string | null
  /** Kept open, each with one request in flight. */
  connections: number
  /** Its latency is measured in open loop as well. */
  openLoop: boolean
  /** Load on this cell after each launch that is discarded, in milliseconds. */
  warmupMs: number
  /** The warm-up goes on until so many requests got a response, but at most twice its time. */
  warmupRequests: number
  /** A slice is at least as long, in milliseconds; 0 where nothing asks for longer ones. */
  leastSliceMs: number
  /** Cores of the servers: how many it can keep busy, and how many it had. */
  cores: { wanted: number; given: number }
  /** The number only counts while server and proxy use all of their cores. */
  serverBound: boolean
  /** Why it was not tried: the machine lacks a tool; null for all others. */
  skipped: string | null
}

/** A stretch of load: as long as its samples need, within these ends. In milliseconds. */
export interface Span {
  minMs: number
  maxMs: number
}

/** Numbers of logical CPUs: the first ones of servers and generators, and all of them where there may be several. */
export type Cores = FirstCores & Partial<AllCores>

export interface Settings {
  /** Of effort; `custom` if something of it was given otherwise. */
  profile: 'quick' | 'default' | 'full' | 'custom'
  /** Planned per race: each is one launch of every system. */
  heats: number
  /** Planned passes per heat: each measures every cell once. */
  slices: number
  /** Planned length of a slice, in milliseconds. */
  sliceMs: number
  /** Time after which no heat is begun, in milliseconds; null without a limit. */
  maxTimeMs: number | null
  /** Null where processes cannot be kept apart. */
  cores: Cores | null
  /** How long an open loop lasts; null where no latency is asked for. */
  openLoop: Span | null
  /** Starts after which a race of commands is judged and may end; absent: at its end alone. */
  looks?: number[]
  /** A smaller difference of commands is none, as a part of 1; absent: 3 %. */
  within?: number
}
