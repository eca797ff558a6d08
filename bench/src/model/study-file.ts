import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ResultError } from './result-file.ts'
import type { StudyCell, StudyRecord, StudyResult } from './study-result.ts'

/** Results of studies as files: bench/study.schema.json describes them. */

const SCHEMA_VERSION = 4

const SCHEMA = fileURLToPath(new URL('../../study.schema.json', import.meta.url))

/** @returns what is wrong with it, nothing if it is right */
export function validateStudy(data: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  if (validate(data)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema; the figures of schema 3 are read as well */
export function readStudyRecord(path: string): StudyRecord {
  let data: unknown
  try {
    data = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ResultError(`${path} cannot be read (${oneLine(error)}).`, { cause: error })
  }
  const stored = (data as { schema?: unknown } | null)?.schema
  if (stored === 3) data = tryFromSchema3(data as RecordOfSchema3)
  const version = (data as { schema?: unknown } | null)?.schema
  if (version !== SCHEMA_VERSION)
    throw new ResultError(
      `${path} is not the result of a study of this version (its schema is ${JSON.stringify(version)}, here it is ${SCHEMA_VERSION}): measure again.`,
    )
  const [first] = validateStudy(data)
  if (first !== undefined) throw new ResultError(`${path} is not the result of a study: ${first}.`)
  return data as StudyRecord
}

/** With its heats. @throws {ResultError} as `readStudyRecord`, and if it has none */
export function readStudyResult(path: string): StudyResult {
  const record = readStudyRecord(path)
  if ('heats' in record && 'conformance' in record) return record as StudyResult
  throw new ResultError(`${path} has figures only, without what was measured: give the directory of a run.`)
}

/** @throws {Error} of the file system; the old file then stays as it was */
export function writeStudy(path: string, result: StudyResult | StudyRecord): void {
  writeJsonFile(path, result)
}

/** What reports need: without the slices, and of the gates only those that failed. */
export function recordOf({ heats: _, conformance: __, ...result }: StudyResult): StudyRecord {
  const { analysis } = result
  if (analysis === null) return result
  const cells = analysis.cells.map((cell) => ({
    ...cell,
    gates: cell.gates.filter(({ verdict }) => verdict === 'failed'),
  }))
  return { ...result, analysis: { ...analysis, cells } }
}

type CellOfSchema3 = Pick<
  StudyCell,
  'race' | 'title' | 'workload' | 'generator' | 'openLoop' | 'warmupMs' | 'cores'
> &
  Pick<StudyCell, 'serverBound' | 'nginx' | 'skipped'> & {
    system: string
    connections: number | null
    proxied: boolean
  }

/** What schema 4 has otherwise. */
type RecordOfSchema3 = Omit<StudyRecord, 'schema' | 'mode' | 'target' | 'driver' | 'settings' | 'cells'> & {
  driver: Omit<StudyRecord['driver'], 'name'>
  settings: Omit<StudyRecord['settings'], 'cores'> & {
    cores: { servers: number[]; generator: number } | null
  }
  cells: CellOfSchema3[]
  heats?: unknown
  conformance?: unknown
}

/** @returns what was given if it is not whole: then it does not fit the schema */
function tryFromSchema3(record: RecordOfSchema3): unknown {
  const isWhole = typeof record.settings === 'object' && Array.isArray(record.cells)
  return isWhole ? fromSchema3(record) : { ...record, schema: SCHEMA_VERSION }
}

/** Figures and claims are as they were; what was measured can no longer be gone on with, and is left out. */
function fromSchema3({ heats: _, conformance: __, ...record }: RecordOfSchema3): StudyRecord {
  const { cores } = record.settings
  return {
    ...record,
    schema: 4,
    mode: 'native',
    target: null,
    driver: { ...record.driver, name: 'startgrid' },
    settings: { ...record.settings, cores: cores && { ...cores, server: cores.servers[0] ?? 0 } },
    cells: record.cells.map(({ system, proxied, connections, ...cell }) => ({
      ...cell,
      id: `${cell.race} ${system}`,
      app: system,
      role: null,
      topology: proxied ? 'nginx' : 'direct',
      engine: null,
      connections: connections ?? 0,
      warmupRequests: 0,
      leastSliceMs: 0,
    })),
  }
}
