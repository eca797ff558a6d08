import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newDirectory } from '@startgrid/cli/test-programs.ts'
import { analyse } from '../../src/judge/analysis.ts'
import { MARKS, storeResult, writePages } from '../../src/publish.ts'
import { formatMarkdownPart } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Study } from '../../src/result/experiment.ts'
import type { Result } from '../../src/result/result.ts'
import { ResultError } from '../../src/result/result-file.ts'
import { golden } from '../fixtures/golden.ts'
import { measureOnPaper, PAPER, type Rates } from '../fixtures/laboratory.ts'

/** What studies say of costs, and what docs keep of results. */

function measured(rates: Rates, study: Study = PAPER): Result {
  const result = measureOnPaper(rates, study)
  return { ...result, finishedAt: '2026-11-21T10:10:00.000Z', analysis: analyse(study, result) }
}

const COSTS: Study = {
  ...PAPER,
  claims: [],
  costs: [
    {
      title: 'hello',
      race: 'race',
      shown: 0,
      lines: { Fast: { 0: 'fast' }, Slow: { 0: 'slow' } },
      pairs: [['Slow', 'Fast']],
      headline: ['Slow', 'Fast'],
    },
  ],
}

const costsOf = (fast: number[], slow: number[]) => documentOf(measured({ fast, slow, wide: fast }, COSTS))

test('a headline of costs says which costs more: microseconds, and the request of which they are 1 %', () => {
  const document = costsOf([40_000, 40_000, 40_000], [20_000, 20_100, 19_900])
  const says =
    /^Choosing Slow over Fast costs 25\.0 µs \(24\.\d–25\.\d\) of CPU .*: 1 % of a request that costs 2\.50 ms$/
  match(document.finding, says)
  match(formatMarkdownPart(document), /\| Slow − Fast \| +\+25\.0 \(\+24\.\d to \+25\.\d\) \|/)
  const [{ title, dots } = { title: '', dots: [] }, ...others] = document.chart?.panels ?? []
  deepEqual([title, dots[0]?.name, dots[0]?.leads, others], ['hello, over Fast', 'Slow', true, []])
  const { finding } = costsOf([20_000, 20_100, 19_900], [40_000, 40_000, 40_000])
  match(finding, /^Choosing Fast over Slow costs 25\.0 µs \(24\.\d–25\.\d\)/)
})

test('costs that could not be told apart, and costs of which nothing was measured', () => {
  const alike = costsOf([40_000, 41_000, 39_000], [39_500, 39_000, 41_000])
  match(
    alike.finding,
    /^No difference between Slow and Fast was shown in hello: \+0\.\d+ \(−.* to \+.*\) µs of CPU$/,
  )
  const { finding, chart } = costsOf([], [])
  deepEqual([finding, chart], ['paper: a study on paper', undefined])
})

test('steps with ratios of several metrics have one table, and what cannot be measured says why', () => {
  const [step = { what: '', race: '', from: '', to: '' }] = PAPER.steps ?? []
  const study: Study = {
    ...PAPER,
    steps: [
      { ...step, ratios: ['rate', 'cpu'] },
      { ...step, what: 'being wide', to: 'wide', ratios: ['rate', 'cpu'] },
    ],
  }
  const result = measureOnPaper({ fast: [40_000, 40_000], slow: [20_000, 20_100] }, study)
  result.heats[0]?.failures.push({ cell: 'race wide', reason: 'it ended with exit code 1' })
  const text = formatMarkdownPart(documentOf({ ...result, analysis: analyse(study, result) }))
  match(text, /\| what +\| requests per second \| +CPU per request \|/)
  match(text, /\| being slow +\| +0\.50 \(0\.\d\d–0\.\d\d\) \| 2\.00 \(1\.\d\d–2\.\d\d\) \|/)
  match(text, /\| being wide: it ended with exit code 1 +\| +— \| +— \|/)
})

test('a claim that is not reproduced names the versions of the source and ours', () => {
  const study = { ...PAPER, source: { title: 'a', machine: 'b', tool: 'c', versions: { express: '4' } } }
  const result = measured({ fast: [20_000, 20_100, 19_900], slow: [40_000, 40_100, 39_900] }, study)
  result.versions.packages = { express: '5.3.0' }
  const text = formatTerminal(documentOf(result), { columns: 200, color: false })
  match(text, / not reproduced here \(express 4 → 5\.3\.0\)$/m)
})

const PAGE = `# paper\n\nBefore.\n\n${MARKS.begin}\nold figures\n${MARKS.end}\n\nAfter.\n`

/** Docs with a page of a study, and a result of it. */
function docsWithPage(t: TestContext): string {
  const path = newDirectory(t)
  const result = measured({ fast: [40_000, 41_000], slow: [20_000, 20_100], wide: [40_000, 40_500] })
  equal(storeResult(result, path), undefined, 'docs do not tell of it')
  mkdirSync(join(path, 'studies'))
  for (const page of ['README', 'paper']) writeFileSync(join(path, `studies/${page}.md`), PAGE)
  storeResult(result, path)
  return path
}

test('figures between the marks are made again, prose stays', (t) => {
  const path = docsWithPage(t)
  const read = () => readFileSync(join(path, 'studies/paper.md'), 'utf8')
  writePages([PAPER], path, ['another'])
  equal(read(), PAGE, 'it is not named')
  writePages([PAPER], path)
  const page = read()
  ok(page.startsWith(`# paper\n\nBefore.\n\n${MARKS.begin}\n\n**paper, `))
  match(page, /A study on paper, a quick run, /)
  ok(page.endsWith(`${MARKS.end}\n\nAfter.\n`))
  ok(!page.includes('old figures'))
  match(page, /\| 1\. fast is twice as fast as slow +\| +2\.00 \| .* \| holds +\|/)
  writePages([PAPER], path)
  equal(read(), page, 'a second time changes nothing')
})

test('one table has all claims with the verdicts of each machine, and the page has the newer figures', (t) => {
  const path = docsWithPage(t)
  const newer = measured({ fast: [10_000, 10_050], slow: [20_000, 20_100], wide: [40_000, 40_500] })
  newer.machine = { ...newer.machine, cpu: 'Example 9' }
  newer.startedAt = '2030-01-01T00:00:00.000Z'
  storeResult(newer, path)
  writeFileSync(join(path, 'studies/other.md'), PAGE)
  const other = { ...PAPER, name: 'other', title: 'a study that nobody ran' }
  deepEqual(writePages([PAPER, other], path), ['other'])
  const readme = readFileSync(join(path, 'studies/README.md'), 'utf8')
  match(
    readme,
    /\| \[paper\]\(paper\.md\) +\| fast is .* 2\.00 \| [^|]*: not reproduced here +\| [^|]*: holds +\|/,
  )
  match(readme, /\| four workers are 4 times as fast as one +\| +4\.00 \| needs 5 cores +\|/)
  match(readme, /^Measured on .+ cores?, .+: paper\.$/m)
  match(readme, /- \[other\]\(other\.md\): a study that nobody ran/)
  match(readFileSync(join(path, 'studies/paper.md'), 'utf8'), /run, 2030-01-01/)
})

test('a page without a place for its figures, and a file that is no result, are refused with a sentence', (t) => {
  const path = docsWithPage(t)
  writeFileSync(join(path, 'studies/paper.md'), '# paper\n')
  throws(() => writePages([PAPER], path), ResultError)
  const [file = ''] = globSync('studies/results/*/paper.json', { cwd: path })
  writeFileSync(join(path, file), '[')
  throws(() => writePages([PAPER], path), { name: 'ResultError', message: /paper\.json cannot be read/ })
})

test('of a race docs keep its figures and what started, without slices, in one file for each kind of machine', (t) => {
  const race = golden('race')
  const cpu = 'Intel(R) Xeon(R) Processor @ 2.50GHz'
  const path = storeResult({ ...race, machine: { ...race.machine, cpu, cores: 2 } }, newDirectory(t)) ?? ''
  match(path, /results\/intel-xeon-2\.50ghz-2-cores\.json$/)
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Result
  deepEqual(kept.analysis?.races, race.analysis?.races)
  for (const [index, { launches, slices }] of kept.heats.entries())
    deepEqual([launches, slices], [race.heats[index]?.launches, []])
})
