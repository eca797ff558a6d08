import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatRatio, formatTimestamp, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { left, markdownTable, right, tableOf } from '@startgrid/cli/table.ts'
import { plural } from '@startgrid/cli/text.ts'
import { describeMachine, nameMachine } from '@startgrid/machine/machine.ts'
import { formatMarkdownPart } from './report/markdown.ts'
import { documentOf } from './report/report.ts'
import { findingSections, ratioText, verdictOf } from './report/study.ts'
import type { Study } from './result/experiment.ts'
import type { Result } from './result/result.ts'
import { ResultError, readResult } from './result/result-file.ts'

/** Results in docs: figures from stored results, prose by hand. */

export const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))

/** In a page, between these stand figures. */
export const MARKS = {
  begin: '<!-- figures: pnpm bench publish -->',
  end: '<!-- end of figures -->',
} as const

/** What names the machine in docs: `amd-epyc-2-cores`. */
export function machineFolder({ machine }: Pick<Result, 'machine'>): string {
  return nameMachine(machine)
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
}

/**
 * Stores what docs keep of a result: its figures, and of the heats of a race what started. A later run on the same kind of machine replaces it.
 * @returns the path of its file; undefined if docs do not tell of its study
 */
export function storeResult(result: Result, docs = DOCS): string | undefined {
  const machine = machineFolder(result)
  const { name } = result.experiment
  if (name !== '' && !existsSync(join(docs, `studies/${name}.md`))) return undefined
  const path = join(docs, name === '' ? `results/${machine}.json` : `studies/results/${machine}/${name}.json`)
  const heats = name !== '' ? [] : result.heats.map((heat) => ({ ...heat, slices: [] }))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ ...result, conformance: [], heats })}\n`)
  return path
}

/**
 * Makes the figures in docs/studies and its pages again, from the stored results.
 * @param named the studies whose pages are made again; the others stay as they were measured
 * @returns names of the studies that have a page and no stored result
 * @throws {ResultError} if a stored result is not one, or a page has no place for its figures
 */
export function writePages(
  all: readonly Study[],
  docs = DOCS,
  named: readonly string[] = all.map(({ name }) => name),
): string[] {
  const directory = join(docs, 'studies')
  const studies = all.filter(({ name }) => existsSync(join(directory, `${name}.md`)))
  // Of all machines, the newest first: a page has its figures, and the table of verdicts all.
  const records = globSync('results/*/*.json', { cwd: directory })
    .map((file) => readResult(join(directory, file)))
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
  for (const study of studies) {
    const newest = records.find(({ experiment }) => experiment.name === study.name)
    if (newest !== undefined && named.includes(study.name))
      writeFigures(join(directory, `${study.name}.md`), figuresOf(newest))
  }
  writeFigures(join(directory, 'README.md'), formatIndex(studies, records))
  return studies
    .map(({ name }) => name)
    .filter((name) => !records.some(({ experiment }) => experiment.name === name))
}

/** What its page says. The tables of its races, which `bench report` prints, are not there. */
function figuresOf(record: Result): string {
  const { experiment, machine, versions, settings } = record
  const document = { ...documentOf(record), sections: findingSections(record) }
  return `${formatMarkdownPart(document)}
Measured on ${describeMachine(machine)}, in ${plural(settings.heats, 'heat')} of each race; startgrid ${versions.startgrid}. \`pnpm bench report docs/studies/results/${machineFolder(record)}/${experiment.name}.json\` prints all tables.`
}

/**
 * Between the two marks of a page.
 * @throws {ResultError} if the page has no place for them
 */
function writeFigures(page: string, figures: string): void {
  const text = readFileSync(page, 'utf8')
  const begin = text.indexOf(MARKS.begin)
  const end = text.indexOf(MARKS.end)
  if (begin < 0 || end < begin)
    throw new ResultError(
      `${page} has no place for its figures: put ${MARKS.begin} and ${MARKS.end} into it.`,
    )
  writeFileSync(page, [text.slice(0, begin) + MARKS.begin, figures, text.slice(end)].join('\n\n'))
}

/** All pages, and one table of all claims with a column of verdicts for each machine. */
function formatIndex(studies: readonly Study[], records: readonly Result[]): string {
  const machines = [...Map.groupBy(records, ({ machine }) => nameMachine(machine))]
  const claims = studies.flatMap(({ name }) => {
    const newest = records.find(({ experiment }) => experiment.name === name)
    return (newest?.analysis?.claims ?? []).map((claim, index) => ({ ...claim, name, isFirst: index === 0 }))
  })
  const table = tableOf<(typeof claims)[number]>(claims, [
    left('study', 0, ({ name, isFirst }) => (isFirst ? `[${name}](${name}.md)` : '')),
    left('claim', 0, ({ says }) => says),
    right('published', 0, ({ published }) => formatRatio(published)),
    ...machines.map(([machine, own]) =>
      left<(typeof claims)[number]>(machine, 0, ({ id, name }) => {
        const record = own.find(({ experiment }) => experiment.name === name)
        return record === undefined ? '' : verdictIn(id, record)
      }),
    ),
  ])
  const pages = studies.map(({ name, title }) => `- [${name}](${name}.md): ${title}`)
  return [pages.join('\n'), markdownTable(table, 0), ...whereOf(records)].join('\n\n')
}

/** Our ratio with its interval and the verdict, if the machine has them. */
function verdictIn(id: string, { analysis, cells }: Result): string {
  const claim = analysis?.claims.find((one) => one.id === id)
  if (claim === undefined) return ''
  const ours = ratioText(claim, cells)
  const verdict = verdictOf(claim, cells)
  return ours === UNKNOWN ? verdict : `${ours}: ${verdict}`
}

/** Runs of one machine are told in one sentence. */
function whereOf(records: readonly Result[]): string[] {
  const machines = Map.groupBy(records, (record) => describeMachine(record.machine))
  return [...machines].map(([machine, own]) => {
    const times = own.map(({ startedAt }) => startedAt).toSorted()
    const [first = '', last = first] = [times[0], times.at(-1)]
    const when =
      first === last ? formatTimestamp(first) : `${formatTimestamp(first)} to ${formatTimestamp(last)}`
    return `Measured on ${machine}, ${when}: ${own.map(({ experiment }) => experiment.name).join(', ')}.`
  })
}
