import type { Role, Topology } from '@startgrid/grid/apps.ts'

/** The cells of a run: what each number belongs to. */

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
