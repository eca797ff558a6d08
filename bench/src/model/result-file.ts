import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { CellSpec, Heat, RaceResult, Result, Slice, Trial } from './result.ts'

/** Results as files. */

/** Every run has a directory of its own here, unless `--output` says otherwise. */
export const RESULTS = fileURLToPath(new URL('../../results/', import.meta.url))

/**
 * Checks data against a published schema.
 * @param file in bench
 * @returns a function that says what is wrong with data, nothing if it is right
 */
export function createValidator(file: string): (data: unknown) => string[] {
  let compiled: ValidateFunction | undefined
  return (data) => {
    const schema = fileURLToPath(new URL(`../../${file}`, import.meta.url))
    compiled ??= new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(schema, 'utf8')))
    if (compiled(data)) return []
    return (compiled.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  }
}

export const validateResult = createValidator('result.schema.json')

/** A file that is not a result; the message is a sentence. */
export class ResultError extends Error {
  override name = 'ResultError'
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema; results of schema 3 are read as well */
export function readResult(path: string): Result {
  return readChecked(path, {
    what: 'a result',
    upgrade: (stored: ResultOfSchema3) => fromSchema3(stored),
    // Results had no cluster before there were runs in one.
    defaults: { cluster: null },
    validate: validateResult,
  })
}

/**
 * Reads a file of schema 4, or of schema 3 by its upgrade.
 * @param what it is, such as `a result`; @param defaults fields that came later
 * @throws {ResultError} if it cannot be read, is of another version, or does not fit
 */
export function readChecked<Kind, Before>(
  path: string,
  format: {
    what: string
    upgrade(stored: Before): unknown
    defaults?: object
    validate(data: unknown): string[]
  },
): Kind {
  const { what, upgrade, defaults, validate } = format
  const stored = parseFile(path)
  const version = (stored as { schema?: unknown } | null)?.schema
  if (version !== 3 && version !== 4) {
    throw new ResultError(
      `${path} is not ${what} of this version (its schema is ${JSON.stringify(version)}, here it is 4): measure again.`,
    )
  }
  const data = version === 3 ? upgrade(stored as Before) : { ...defaults, ...(stored as object) }
  const [first] = validate(data)
  if (first !== undefined) throw new ResultError(`${path} is not ${what}: ${first}.`)
  return data as Kind
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
  'kind' | 'schema' | 'cluster' | 'warnings' | 'cells' | 'heats' | 'settings' | 'forecast' | 'analysis'
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
    cluster: null,
    analysis: null,
    settings: { ...settings, precision, extensions: 0 },
    forecast: null,
    warnings: cautions.filter(({ kind }) => !DERIVED_IN_SCHEMA_3.includes(kind)),
    cells: cells.map((cell) => ({ ...cell, race: cell.role, warmupRequests: 0, replicas: null })),
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
    case 'capacity':
      return { ...common, kind, trials, scaling: [] }
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

/** @throws {ResultError} if it is not there, or not JSON */
export function parseFile(path: string): unknown {
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
