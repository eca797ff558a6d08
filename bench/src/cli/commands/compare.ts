import { writeFileSync } from 'node:fs'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { wrap } from '@startgrid/cli/text.ts'
import { type Comparison, compareResults } from '../../judge/compare/comparison.ts'
import { findRegressions } from '../../judge/compare/regression.ts'
import type { Study } from '../../model/experiment.ts'
import type { Metric } from '../../model/figures.ts'
import type { StoredResult } from '../../model/result.ts'
import { ResultError } from '../../model/result-file.ts'
import { documentOfComparison } from '../../report/comparison.ts'
import { formatMarkdown } from '../../report/markdown.ts'
import { formatTerminal, terminalStyle } from '../../report/terminal.ts'
import { COMPARE } from '../option-table.ts'
import type { Program } from '../program.ts'
import { analyseAgain, openStored, readStored } from '../stored.ts'

type CompareOptions = ReturnType<typeof readCompareOptions>

/**
 * `compare A B`.
 * @returns the exit code: 0; 1 for a regression if that was asked for; 2 for what cannot or should not be compared, told in sentences
 * @throws {UsageError} for wrong words
 */
export async function compareCommand(args: readonly string[], { name, studies }: Program): Promise<number> {
  return compare(readCompareOptions(args, name), studies)
}

function compare(options: CompareOptions, studies: readonly Study[]): number {
  const comparison = tryToCompare(options, studies)
  if (Array.isArray(comparison)) {
    process.stderr.write(comparison.map((sentence) => `${wrap(sentence)}\n`).join(''))
    return 2
  }
  const regressions = options.limit === null ? null : findRegressions(comparison, options.limit)
  process.stdout.write(textOf(comparison, regressions, options))
  if (options.json !== undefined && options.json !== '-')
    writeFileSync(options.json, toJson(comparison, regressions))
  return regressions !== null && regressions.length > 0 ? 1 : 0
}

/** @returns the comparison, or the sentences that refuse it */
function tryToCompare(
  { a, b, metric, force, limit }: CompareOptions,
  studies: readonly Study[],
): Comparison | string[] {
  try {
    const comparison = compareResults(open(a, studies), open(b, studies), { metric })
    if (comparison.mode === 'target' && limit !== null) return [NO_REGRESSION]
    if (force || comparison.unlike.length === 0) return comparison
    return [...comparison.unlike, 'Measure alike, or compare all the same with --force.']
  } catch (error) {
    if (error instanceof ResultError) return [error.message]
    throw error
  }
}

const NO_REGRESSION =
  'Each run met one launch of a server that already ran, and launches differ: leave out --fail-on-regression, or race the apps natively.'

/** @throws {UsageError} in one sentence */
export function readCompareOptions(args: readonly string[], program: string) {
  const { values, paths } = readStored(args, COMPARE, { command: `${program} compare`, count: 2 })
  const [a = '', b = ''] = paths
  const { metric, force, markdown, json } = values
  return {
    ...{ a, b, force, markdown, json },
    metric: metric === undefined ? undefined : readMetric(metric),
    limit: values['fail-on-regression'],
  }
}

/** Analysed again, so that both were analysed alike. */
function open(path: string, studies: readonly Study[]): StoredResult {
  const [stored, ...others] = openStored(path, studies)
  if (others.length > 0)
    throw new ResultError(`${path} has the results of ${others.length + 1} studies: name the file of one.`)
  return analyseAgain(stored.result, { keepVoided: false, studies })
}

function readMetric(value: string): Metric {
  if (value === 'rate' || value === 'cpu') return value
  throw new UsageError(`There is no metric '${value}', only rate and cpu.`)
}

function textOf(
  comparison: Comparison,
  regressions: readonly string[] | null,
  { json, markdown }: CompareOptions,
): string {
  if (json === '-') return toJson(comparison, regressions)
  const document = documentOfComparison(comparison, regressions)
  return markdown ? formatMarkdown(document) : formatTerminal(document, terminalStyle(process.stdout))
}

function toJson(comparison: Comparison, regressions: readonly string[] | null): string {
  return `${JSON.stringify({ ...comparison, regressions }, null, 2)}\n`
}
