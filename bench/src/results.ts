import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ErrorCounts, Latency } from '@startgrid/loadgen'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { Machine, Versions } from './machine.ts'

/** A result as it is stored: bench/result.schema.json describes it for other programs. */
export interface Result {
  schema: 1
  /** ISO 8601, UTC. */
  startedAt: string
  /** Null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats it. */
  command: string
  seed: number
  machine: Machine
  versions: Versions
  /** Null if none was needed or found. */
  nginx: NginxVersion | null
  driver: DriverResult
  settings: Settings
  /** What a reader must know, in sentences. */
  cautions: string[]
  cells: CellResult[]
}

export interface NginxVersion {
  /** `path`, `docker` or `download`. */
  kind: string
  version: string
  njs: { version: string; engine: string } | null
}

/** What offered the load. */
export interface DriverResult {
  name: 'startgrid'
  /** Answers per second against NGINX's `return 200`; null if not measured. */
  ceiling: number | null
}

export interface Settings {
  rounds: number
  /** Milliseconds measured per cell and round. */
  durationMs: number
  /** Milliseconds of load before that, not counted; a quarter of it behind NGINX. */
  warmupMs: number
  /** Kept open, each with one request in flight. */
  connections: number
  /** The cores of the servers and of the generator; null where processes cannot be kept apart. */
  cores: { server: number; generator: number } | null
}

export interface CellResult {
  /** `fastify/hello` */
  app: string
  framework: string
  role: string
  topology: string
  /** njs only: unlike engines are never compared as one. */
  engine: string | null
  /** Method and path. */
  workload: string
  /** Answers per second, geometric mean of the rounds; null if voided. */
  rate: number | null
  /** 95 % interval of the rate over rounds; null with one round or if voided. */
  rateInterval: [number, number] | null
  /** Rate over that of bare node in the same topology, by round; null without both. */
  ratioToNode: { value: number; low: number | null; high: number | null } | null
  /** CPU seconds per request, mean of the rounds; null where the system does not tell. */
  cpuPerRequest: { app: number | null; proxy: number | null; generator: number } | null
  /** Bytes, highest of the rounds. The proxy is one NGINX in front of all apps of the role. */
  peakMemory: { app: number | null; proxy: number | null }
  /** Requests that failed, in all rounds. */
  errors: number
  errorsByKind: ErrorCounts
  /** Not tried, because the machine lacks a tool; such a cell is voided as well. */
  skipped: boolean
  /** There is no number, or it may not be used. */
  voided: boolean
  voidedBecause: string | null
  rounds: Round[]
}

/** One measured stretch of one launch. */
export interface Round {
  /** From 1. */
  round: number
  /** Answers per second. */
  rate: number
  requests: number
  seconds: number
  /** Answers whose body was compared. */
  checked: number
  /** Milliseconds; of a closed loop: it says how long requests queued, not how fast the server is under a fixed rate. */
  latency: Latency
  cpuSeconds: { app: number | null; proxy: number | null; generator: number }
  /** Bytes. */
  peakMemory: { app: number | null; proxy: number | null }
}

const SCHEMA = fileURLToPath(new URL('../result.schema.json', import.meta.url))

/** Checks data against the published schema. @returns what is wrong with it, nothing if it is right */
export function validateResult(data: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  if (validate(data)) return []
  return (validate.errors ?? []).map((error: ErrorObject) => `${error.instancePath || '/'} ${error.message}`)
}

/**
 * Writes the file in one step, so that a reader or an interruption never sees half of it.
 * @throws {Error} of the file system; the old file then stays as it was
 */
export function writeResult(path: string, result: Result): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, `${JSON.stringify(result, null, 2)}\n`)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
