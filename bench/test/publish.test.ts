import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { analyse } from '../src/judge/analysis.ts'
import { DOCS, MARKS, storeResult, writePages } from '../src/publish.ts'
import { formatMarkdownPart } from '../src/report/markdown.ts'
import { documentOf } from '../src/report/report.ts'
import { formatTerminal } from '../src/report/terminal.ts'
import type { Result } from '../src/result/result.ts'
import { ResultError } from '../src/result/result-file.ts'
import { PUBLISHED } from '../studies/index.ts'
import { measureOnPaper, PAPER } from './fixtures/laboratory.ts'
import { rateResult } from './fixtures/results.ts'

const OTHER = { ...PAPER, name: 'other', title: 'a study that nobody ran' }
const PAGE = `# paper\n\nBefore.\n\n${MARKS.begin}\nold figures\n${MARKS.end}\n\nAfter.\n`

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'startgrid-docs-'))
  t.after(() => rmSync(path, { recursive: true }))
  const result = measureOnPaper({ fast: [40_000, 41_000], slow: [20_000, 20_100], wide: [40_000, 40_500] })
  result.finishedAt = '2026-11-21T10:10:00.000Z'
  result.analysis = analyse(PAPER, result)
  equal(storeResult(result, path), undefined, 'docs do not tell of it')
  mkdirSync(join(path, 'studies'))
  writeFileSync(join(path, 'studies/paper.md'), PAGE)
  storeResult(result, path)
  return path
}

test('figures between the marks are made again, prose stays', (t) => {
  const path = directory(t)
  writePages([PAPER], path)
  const page = readFileSync(join(path, 'studies/paper.md'), 'utf8')
  ok(page.startsWith(`# paper\n\nBefore.\n\n${MARKS.begin}\n\n**paper, `))
  match(page, /A study on paper, a quick run, /)
  ok(page.endsWith(`${MARKS.end}\n\nAfter.\n`))
  ok(!page.includes('old figures'))
  match(page, /\| 1\. fast is twice as fast as slow +\| +2\.00 \| .* \| holds +\|/)
  writePages([PAPER], path)
  equal(readFileSync(join(path, 'studies/paper.md'), 'utf8'), page, 'a second time changes nothing')
  writeFileSync(join(path, 'studies/paper.md'), PAGE)
  writePages([PAPER], path, ['another'])
  equal(readFileSync(join(path, 'studies/paper.md'), 'utf8'), PAGE, 'it is not named')
})

test('one table has all claims with their verdicts, and names the machine', (t) => {
  const path = directory(t)
  writeFileSync(join(path, 'studies/other.md'), PAGE)
  deepEqual(writePages([PAPER, OTHER], path), ['other'])
  const readme = readFileSync(join(path, 'studies/README.md'), 'utf8')
  match(
    readme,
    /\| \[paper\]\(paper\.md\) +\| fast is twice as fast as slow +\| +2\.00 \| [\d.]+ \([\d.–]+\): holds +\|/,
  )
  match(readme, /\| four workers are 4 times as fast as one +\| +4\.00 \| needs 5 cores +\|/)
  match(readme, /^Measured on .+ cores?, .+: paper\.$/m)
  match(readme, /- \[other\]\(other\.md\): a study that nobody ran/)
})

test('verdicts of two machines stand side by side, and the page has the newer figures', (t) => {
  const path = directory(t)
  const newer = measureOnPaper({ fast: [10_000, 10_050], slow: [20_000, 20_100], wide: [40_000, 40_500] })
  newer.analysis = analyse(PAPER, newer)
  newer.machine = { ...newer.machine, cpu: 'Example 9' }
  newer.startedAt = '2030-01-01T00:00:00.000Z'
  storeResult(newer, path)
  writePages([PAPER], path)
  match(
    readFileSync(join(path, 'studies/README.md'), 'utf8'),
    /twice as fast as slow +\| +2\.00 \| [^|]*: not reproduced here +\| [^|]*: holds +\|/,
  )
  match(readFileSync(join(path, 'studies/paper.md'), 'utf8'), /run, 2030-01-01/)
})

test('a page without a place for its figures, and a file that is no result, are refused with a sentence', (t) => {
  const path = directory(t)
  writeFileSync(join(path, 'studies/paper.md'), '# paper\n')
  throws(() => writePages([PAPER], path), ResultError)
  const [file = ''] = globSync('studies/results/*/paper.json', { cwd: path })
  writeFileSync(join(path, file), '[')
  throws(() => writePages([PAPER], path), { name: 'ResultError', message: /paper\.json cannot be read/ })
})

test('a claim that is not reproduced names the versions of the source and ours', () => {
  const rates = { fast: [20_000, 20_100, 19_900], slow: [40_000, 40_100, 39_900] }
  const study = { ...PAPER, source: { title: 'a', machine: 'b', tool: 'c', versions: { express: '4' } } }
  const result = measureOnPaper(rates, study)
  result.analysis = analyse(study, result)
  result.versions.packages = { express: '5.3.0' }
  match(formatMarkdownPart(documentOf(result)), /not reproduced here \(express 4 → 5\.3\.0\) \|/)
  const text = formatTerminal(documentOf(result), { columns: 200, color: false })
  match(text, / not reproduced here \(express 4 → 5\.3\.0\)$/m)
})

test('every study of a source has its page, with a place for its figures', () => {
  for (const { name } of PUBLISHED) {
    const page = readFileSync(join(DOCS, `studies/${name}.md`), 'utf8')
    ok(page.indexOf(MARKS.begin) > 0 && page.indexOf(MARKS.end) > page.indexOf(MARKS.begin), name)
  }
})

test('of a race docs keep its figures and what started, without slices, in one file for each kind of machine', (t) => {
  const race = rateResult()
  const cpu = 'Intel(R) Xeon(R) Processor @ 2.50GHz'
  const path = storeResult({ ...race, machine: { ...race.machine, cpu, cores: 2 } }, directory(t))
  match(path ?? '', /results\/intel-xeon-2\.50ghz-2-cores\.json$/)
  const kept = JSON.parse(readFileSync(path ?? '', 'utf8')) as Result
  deepEqual(kept.analysis?.races, race.analysis?.races)
  deepEqual(
    kept.heats.map(({ launches, slices }) => [launches, slices]),
    race.heats.map(({ launches }) => [launches, []]),
  )
})
