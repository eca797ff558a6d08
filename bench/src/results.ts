import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ErrorCounts, Latency } from '@startgrid/loadgen'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { Machine, Versions } from './machine.ts'

/** A result as it is stored: bench/result.schema.json describes it for other programs. */
export interface Result {
  schema: 1
  startedAt: string
  /** Null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats it. */
  command: string
  seed: number
  machine: Machine
  versions: Versions
  nginx: NginxVersion | null
  driver: { name: 'startgrid'; ceiling: number | null }
  settings: Settings
  cautions: string[]
  cells: CellResult[]
}

export interface NginxVersion {
  kind: string
  version: string
  njs: { version: string; engine: string } | null
}

export interface Settings {
  rounds: number
  durationMs: number
  warmupMs: number
  connections: number
  /** The cores of the servers and of the generator; null where processes cannot be pinned. */
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
  errors: number
  errorsByKind: ErrorCounts
  voided: boolean
  voidedBecause: string | null
  rounds: Round[]
}

/** One measured stretch of one launch. */
export interface Round {
  round: number
  rate: number
  requests: number
  seconds: number
  /** Answers whose body was compared. */
  checked: number
  latency: Latency
  cpuSeconds: { app: number | null; proxy: number | null; generator: number }
  peakMemory: { app: number | null; proxy: number | null }
}

const SCHEMA = fileURLToPath(new URL('../result.schema.json', import.meta.url))

/** Checks data against the published schema. @returns what is wrong with it, nothing if it is right */
export function validateResult(data: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  if (validate(data)) return []
  return (validate.errors ?? []).map((error: ErrorObject) => `${error.instancePath || '/'} ${error.message}`)
}

/** Writes the file in one step, so that a reader or an interruption never sees half of it. */
export function writeResult(path: string, result: Result): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, `${JSON.stringify(result, null, 2)}\n`)
  renameSync(temporary, path)
}
