import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deriveWarnings } from '../../src/judge/derive-warnings.ts'
import type { Analysis } from '../../src/result/figures.ts'
import type { Slice } from '../../src/result/heat.ts'
import type { Result, Warning } from '../../src/result/result.ts'
import { SILENT, trialOf } from '../fixtures/evidence.ts'
import { withTrials } from '../fixtures/golden.ts'
import { rateResult, suspectResult } from '../fixtures/results.ts'

const analysisOf = ({ analysis }: Result): Analysis => {
  assert.ok(analysis)
  return analysis
}

/** A result in which nothing is to be warned of. */
function cleanResult(): Result {
  const result = rateResult()
  const heats = result.heats.map((heat) => ({
    ...heat,
    slices: heat.slices.map((slice) => ({ ...slice, disturbed: false })),
  }))
  const { races, ...analysis } = analysisOf(result)
  const cells = analysis.cells.map((one) => ({
    ...one,
    disturbed: 0,
  }))
  return {
    ...result,
    heats,
    analysis: { ...analysis, cells, races: races.map((race) => ({ ...race, control: null })) },
  }
}

function withSlices(result: Result, change: (slice: Slice) => Slice): Result {
  return { ...result, heats: result.heats.map((heat) => ({ ...heat, slices: heat.slices.map(change) })) }
}

const find = (result: Result, kind: Warning['kind']) =>
  deriveWarnings(result).flatMap((one) => (one.kind === kind ? one.text : []))

test('a clean result has no warnings, nor has one that has just begun', () => {
  assert.deepEqual(deriveWarnings(cleanResult()), [])
  assert.deepEqual(deriveWarnings({ ...cleanResult(), heats: [], analysis: null }), [])
})

test('a suspect twin is told for each race and metric in which it is', () => {
  const result = suspectResult()
  const suspect = analysisOf(result).races.filter(({ control }) => control?.suspect)
  assert.ok(suspect.length > 0)
  const found = find(result, 'suspect')
  assert.equal(found.length, suspect.length)
  assert.match(
    found[0] ?? '',
    /^The run is suspect: node\/hello#2 direct differs by \d+ % in req\/s from the app that it equals \(p = [\d.e-]+\)\. /,
  )
})

test('slices that others took are counted', () => {
  const result = cleanResult()
  const total = result.heats.flatMap(({ slices }) => slices).filter(({ phase }) => phase === 'measure').length
  const first = new Set(result.heats.map(({ slices }) => slices.find(({ phase }) => phase === 'measure')))
  const disturbed = withSlices(result, (slice) => (first.has(slice) ? { ...slice, disturbed: true } : slice))
  const taken = `Other programs visibly used the cores during ${first.size} of ${total} slices.`
  assert.deepEqual(find(disturbed, 'disturbed'), [`${taken} These slices do not count.`])
})

test('cells of which all slices count, because others took most of them, are counted', () => {
  const result = cleanResult()
  const crowded = withSlices(result, (slice) => ({ ...slice, disturbed: slice.cell === 'node/hello direct' }))
  assert.match(
    find(crowded, 'disturbed').join(),
    /^In at least one launch of 1 cell others took .*all slices count\./,
  )
})

test('open loops that others took are counted, and the cells in which they are the most', () => {
  const result = cleanResult()
  const quiet = ['node/hello direct', 'koa/hello direct'].flatMap((cell) =>
    [1, 2, 3].map(() => trialOf({ cell })),
  )
  assert.deepEqual(find(withTrials(result, quiet), 'disturbed'), [])
  const [first] = quiet
  assert.ok(first)
  const one = quiet.map((trial) => ({ ...trial, disturbed: trial === first }))
  assert.match(
    find(withTrials(result, one), 'disturbed').join(),
    /during 1 of 6 open loops\. These do not count\.$/,
  )
  const all = quiet.map((trial) => ({ ...trial, disturbed: trial.cell === first.cell }))
  assert.match(find(withTrials(result, all), 'disturbed').join(), /do not count, except in 1 cell /)
})

describe('accounts', () => {
  const told = (serverWait: number | null, serverForeign: number | null, more: Partial<Slice> = {}) =>
    deriveWarnings(
      withSlices(cleanResult(), (slice) => ({
        ...slice,
        disturbance: { ...SILENT, serverWait, serverForeign },
        ...more,
      })),
    )
      .map(({ text }) => text)
      .join()
  const costless = { cpuSeconds: { app: null, proxy: null, generator: null } }

  test('that are missing altogether', () => assert.match(told(null, null, costless), /costs are missing/))
  test('of costs alone, as of containers on a Mac', () => assert.match(told(null, null), /^Costs are known/))
  test('of waiting alone', () => assert.match(told(0, null), /had to wait/))
  test('that are there', () => assert.equal(told(0, 0), ''))
  test('of open loops alone', () => {
    const of = (disturbance: Slice['disturbance']) =>
      find(withTrials(cleanResult(), [trialOf({ disturbance })]), 'accounting').join()
    const { generatorWait, generatorForeign } = SILENT
    assert.equal(of({ ...SILENT, serverWait: 0, serverForeign: 0 }), '')
    assert.match(
      of({ generatorWait, generatorForeign, serverWait: null, serverForeign: null }),
      /^Costs are known/,
    )
  })
})
