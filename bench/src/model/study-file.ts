import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { createValidator, parseFile, ResultError, readChecked } from './result-file.ts'
import type { Study } from './study.ts'
import type { StudyCell, StudyRecord, StudyResult } from './study-result.ts'

/** Results of studies as files: bench/study.schema.json describes them. */

/** @returns what is wrong with it, nothing if it is right */
export const validateStudy = createValidator('study.schema.json')

/** @throws {ResultError} if the file cannot be read, or does not fit the schema; the figures of schema 3 are read as well */
export function readStudyRecord(path: string): StudyRecord {
  return readChecked(path, {
    what: 'the result of a study',
    upgrade: (stored: RecordOfSchema3) => tryFromSchema3(stored),
    validate: validateStudy,
  })
}

/** The files of studies in the directory of a run, in the order in which they are measured. */
export function studyPaths(studies: readonly Pick<Study, 'name'>[], directory: string): string[] {
  return studies.map(({ name }) => join(directory, `${name}.json`)).filter((path) => existsSync(path))
}

/** Whether a file says that it is of a study. */
export function isStudyFile(path: string): boolean {
  return (parseFile(path) as { study?: unknown } | null)?.study !== undefined
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
  return isWhole ? fromSchema3(record) : { ...record, schema: 4 }
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
