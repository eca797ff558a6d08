import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { analyse } from '../../../src/judge/analysis.ts'
import { formatMarkdownPart } from '../../../src/report/markdown.ts'
import { documentOf } from '../../../src/report/report.ts'
import type { Study } from '../../../src/result/experiment.ts'
import { measureOnPaper, PAPER, type Rates } from '../../fixtures/laboratory.ts'

const STUDY: Study = {
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

function reportOf(rates: Rates) {
  const result = measureOnPaper({ ...rates, wide: rates.fast ?? [] }, STUDY)
  const record = { ...result, analysis: analyse(STUDY, result) }
  return documentOf(record)
}

test('a headline of costs: microseconds with their interval, and the request of which they are 1 %', () => {
  const document = reportOf({ fast: [40_000, 40_000, 40_000], slow: [20_000, 20_100, 19_900] })
  match(
    document.finding,
    /^Choosing Slow over Fast costs 25\.0 µs \(24\.\d–25\.\d\) of CPU per request for hello: 1 % of a request that costs 2\.50 ms$/,
  )
  match(formatMarkdownPart(document), /\| Slow − Fast \| +\+25\.0 \(\+24\.\d to \+25\.\d\) \|/)
  const { chart } = document
  ok(chart)
  deepEqual(
    chart.panels.map(({ title, dots }) => [title, dots.map(({ name, leads }) => [name, leads])]),
    [['hello, over Fast', [['Slow', true]]]],
  )
})

test('the headline says which costs more, whichever it is', () => {
  const { finding } = reportOf({ slow: [40_000, 40_000, 40_000], fast: [20_000, 20_100, 19_900] })
  match(finding, /^Choosing Fast over Slow costs 25\.0 µs \(24\.\d–25\.\d\)/)
})

test('costs that could not be told apart, and costs of which nothing was measured', () => {
  const rates = { fast: [40_000, 41_000, 39_000], slow: [39_500, 39_000, 41_000] }
  match(
    reportOf(rates).finding,
    /^No difference between Slow and Fast was shown in hello: \+0\.\d+ \(−\d\.\d+ to \+\d\.\d+\) µs of CPU$/,
  )
  const { finding, chart } = reportOf({ fast: [], slow: [] })
  equal(finding, 'paper: a study on paper')
  equal(chart, undefined)
})
