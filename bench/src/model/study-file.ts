import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeJsonFile } from '@startgrid/cli/json-file.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ResultError } from './result-file.ts'
import type { StudyRecord, StudyResult } from './study-result.ts'

/** Results of studies as files: bench/study.schema.json describes them. */

/** 1 had latencies of closed loops only, under the names that now are those of open loops. */
const SCHEMA_VERSION = 3

const SCHEMA = fileURLToPath(new URL('../../study.schema.json', import.meta.url))

/** @returns what is wrong with it, nothing if it is right */
export function validateStudy(data: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  if (validate(data)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
}

/** @throws {ResultError} if the file cannot be read, or does not fit the schema */
export function readStudyRecord(path: string): StudyRecord {
  let data: unknown
  try {
    data = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ResultError(`${path} cannot be read (${oneLine(error)}).`, { cause: error })
  }
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
