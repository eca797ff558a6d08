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

/** In a page, between these stand the figures of its study. */
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
 * Makes docs/studies/README.md and the figures in pages again, from the stored results.
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
  const records = readRecords(directory)
  for (const study of studies) {
    const newest = records.find(({ experiment }) => experiment.name === study.name)
    if (newest !== undefined && named.includes(study.name))
      writeBetween(join(directory, `${study.name}.md`), MARKS, figuresOf(newest))
  }
  writeFileSync(join(directory, 'README.md'), formatIndex(studies, records))
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
 * Writes figures into a page, between its two marks.
 * @throws {ResultError} if the page has no place for them
 */
export function writeBetween(page: string, marks: { begin: string; end: string }, block: string): void {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(marks.begin), text.indexOf(marks.end)]
  if (begin < 0 || end < begin)
    throw new ResultError(
      `${page} has no place for its figures: put ${marks.begin} and ${marks.end} into it.`,
    )
  writeFileSync(page, [text.slice(0, begin) + marks.begin, block, text.slice(end)].join('\n\n'))
}

/** Of all machines, the newest first: a page has its figures, and the table of verdicts all. */
function readRecords(directory: string): Result[] {
  return globSync('results/*/*.json', { cwd: directory })
    .map((file) => readResult(join(directory, file)))
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
}

/** One table of all claims, with a column of verdicts for each machine. */
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
      left<(typeof claims)[number]>(machine, 0, ({ id, name }) =>
        verdictIn(
          id,
          own.find(({ experiment }) => experiment.name === name),
        ),
      ),
    ),
  ])
  const pages = studies.map(({ name, title }) => `- [${name}](${name}.md): ${title}`)
  return [
    '# Studies',
    'Published comparisons of JavaScript servers and all that they claim, and questions of our own. `pnpm bench study NAME` tests one on your machine, and `pnpm bench publish RESULT` adds its column.',
    pages.join('\n'),
    '## All claims',
    claims.length === 0 ? 'No result is stored yet.' : markdownTable(table, 0),
    `${RULE}${describeErrors(claims.length)}`,
    ...whereOf(records),
    '## What all studies share',
    SHARED,
    'Made by `pnpm bench publish` from [results](results); do not edit.',
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

/** Our ratio with its interval and the verdict, if the machine has them. */
function verdictIn(id: string, record: Result | undefined): string {
  const claim = record?.analysis?.claims.find((one) => one.id === id)
  if (record === undefined || claim === undefined) return ''
  const [ours, verdict] = [ratioText(claim, record.cells), verdictOf(claim, record.cells)]
  return ours === UNKNOWN ? verdict : `${ours}: ${verdict}`
}

const RULE =
  'The verdict follows from the 95 % interval of our ratio. _Holds_: it lies within 0.8 to 1.25 times the published ratio. _Direction holds_: ' +
  'it is on the same side of 1 as published; the _size differs_ if it is outside of that band, and is _undecided_ if it is partly within. ' +
  '_Not reproduced here_: it excludes the published direction, or lies within 0.91 to 1.1 and excludes the published size. _Undecided here_: anything else, or a failed gate. _Needs N cores_: this machine has fewer. ' +
  'A published ratio within 0.95 to 1.05 says that there is no effect: it holds if the interval lies within 0.91 to 1.1.'

const SHARED =
  'A system with a role of the contract passes its suite first, so that all do the same work. Servers and NGINX have one core, the generator another, unless a page says otherwise. A rate counts only while the ' +
  "servers' core is busy. A latency is that of an open loop, from when a request was due: each system of a race gets the same requests at random times, at a rate that the study states, or half the capacity of the slowest one that a claim about " +
  'latency names. One for which that is more than 90 % of its own is left out. A claim about the tool of a source is decided by that tool. A system that could use more ' +
  "cores than there are is measured all the same, and claims about it are undecided. `--as-published` runs nothing but the source's own commands.\n\n" +
  '[How the benchmark measures](../method.md) says the rest.'

/** Of many verdicts that rest on 95 % intervals, some are wrong. */
function describeErrors(claims: number): string {
  const wrong = Math.round(claims * 0.05)
  return wrong === 0
    ? ''
    : ` With ${claims} claims tested at 95 %, about ${wrong} ${wrong === 1 ? 'verdict is' : 'verdicts are'} wrong by chance.`
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
