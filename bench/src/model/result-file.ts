import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { CellSpec, Heat, RaceResult, Result, Slice, Trial } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

const SCHEMA = fileURLToPath(new URL('../../result.schema.json', import.meta.url))

let compiled: ValidateFunction | undefined

/** Checks data against the published schema. @returns what is wrong with it, nothing if it is right */
export function validateResult(data: unknown): string[] {
  compiled ??= new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  const validate = compiled
  if (validate(data)) return []
  return (validate.errors ?? []).map((error: ErrorObject) => `${error.instancePath || '/'} ${error.message}`)
}

/** A file that is not a result; the message is a sentence. */
export class ResultError extends Error {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema; results of schema 3 are read as well */
export function readResult(path: string): Result {
  const stored = parse(path)
  const version = versionOf(stored)
  if (version !== 3 && version !== 4) {
    throw new ResultError(
      `${path} is not a result of this version (its schema is ${JSON.stringify(version)}, here it is 4): measure again.`,
    )
  }
  const data = version === 3 ? fromSchema3(stored as ResultOfSchema3) : stored
  const [first] = validateResult(data)
  if (first !== undefined) throw new ResultError(`${path} is not a result: ${first}.`)
  return data as Result
}

function versionOf(data: unknown): unknown {
  return (data as { schema?: unknown } | null)?.schema
}

type SliceOfSchema3 = Omit<Slice, 'pass'> & { repeat: boolean }
type HeatOfSchema3 = Omit<Heat, 'race' | 'slices' | 'moreWarmup' | 'spins'> & {
  role: string
  slices: SliceOfSchema3[]
}
type CellOfSchema3 = Omit<CellSpec, 'race' | 'warmupRequests'>

/** What schema 4 has otherwise. */
type ResultOfSchema3 = Omit<
  RaceResult,
  'kind' | 'schema' | 'warnings' | 'cells' | 'heats' | 'settings' | 'forecast' | 'analysis'
> & {
  kind: Result['kind']
  analysis?: unknown
  capacity?: unknown
  latency?: unknown
  overload?: unknown
  trials?: Trial[]
  settings: Omit<Result['settings'], 'precision' | 'extensions'> & { until: number | null }
  failures?: { cell: string; launch: number; reason: string }[]
  cautions?: Result['warnings']
  cells?: CellOfSchema3[]
  heats?: HeatOfSchema3[]
}

/** Warnings that follow from slices are made again, and have other names now. */
const DERIVED_IN_SCHEMA_3: readonly string[] = ['repeated', 'contention', 'trend']

/**
 * Figures have to be made again: gates had other names. Slices came in passes as well; a repeated slice belongs to no pass of others, and is the
 * second one of the pass of its first.
 */
function fromSchema3({
  cautions = [],
  cells = [],
  heats = [],
  failures = [],
  trials = [],
  settings: { until: precision, ...settings },
  kind,
  analysis: _,
  capacity: __,
  latency: ___,
  overload: ____,
  ...stored
}: ResultOfSchema3): Result {
  const common = {
    ...stored,
    schema: 4 as const,
    analysis: null,
    settings: { ...settings, precision, extensions: 0 },
    forecast: null,
    warnings: cautions.filter(({ kind }) => !DERIVED_IN_SCHEMA_3.includes(kind)),
    cells: cells.map((cell) => ({ ...cell, race: cell.role, warmupRequests: 0 })),
    heats: [
      ...heats.map(({ role, slices, ...heat }) => ({
        ...heat,
        race: role,
        slices: inPasses(slices),
        moreWarmup: [],
        spins: [],
      })),
      ...failures.map(({ cell, launch, reason }) => failedLaunch(cell, launch, reason)),
    ],
  }
  switch (kind) {
    case 'rate':
    case 'selfcheck':
      return { ...common, kind }
    default:
      return { ...common, kind, trials }
  }
}

/** In an open loop each launch of a cell is a heat. Of those that did not fail, only the trials were stored. */
function failedLaunch(cell: string, launch: number, reason: string): Heat {
  const nothing = { launches: [], slices: [], moreWarmup: [], spins: [] }
  return { race: cell, heat: launch, startedAt: '', seconds: 0, ...nothing, failures: [{ cell, reason }] }
}

/** A repeated slice takes the place of the disturbed one that it repeats. */
function inPasses(slices: readonly SliceOfSchema3[]): Slice[] {
  const passes = new Map<string, number>()
  const repeated = new Map<string, number[]>()
  return slices.map(({ repeat, ...slice }) => {
    if (slice.phase === 'warmup') return { ...slice, pass: null }
    if (repeat) return { ...slice, pass: repeated.get(slice.cell)?.shift() ?? 1 }
    const pass = (passes.get(slice.cell) ?? 0) + 1
    passes.set(slice.cell, pass)
    if (slice.disturbed) repeated.set(slice.cell, [...(repeated.get(slice.cell) ?? []), pass])
    return { ...slice, pass }
  })
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code
    throw new ResultError(`${path} cannot be read (${reason}): give the result.json of a run.`, {
      cause: error,
    })
  }
}

/** @throws {Error} of the file system; the old file then stays as it was */
export function writeResult(path: string, result: Result): void {
  writeJsonFile(path, result)
}
