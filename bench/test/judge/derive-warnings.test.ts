import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deriveWarnings, observedWarnings } from '../../src/judge/derive-warnings.ts'
import type { Analysis, Race } from '../../src/model/figures.ts'
import type { Slice } from '../../src/model/heat.ts'
import type { RaceResult } from '../../src/model/result.ts'
import type { Warning, WarningKind } from '../../src/model/warnings.ts'
import { SILENT } from '../fixtures/evidence.ts'
import { withTrials } from '../fixtures/golden.ts'
import { contendedResult, rateResult, suspectResult } from '../fixtures/results.ts'
import { trialOf } from '../fixtures/trials.ts'

const analysisOf = ({ analysis }: RaceResult): Analysis => {
  assert.ok(analysis)
  return analysis
}

/** A result in which nothing is to be warned of. */
function cleanResult(): RaceResult {
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

function withSlices(result: RaceResult, change: (slice: Slice) => Slice): RaceResult {
  return { ...result, heats: result.heats.map((heat) => ({ ...heat, slices: heat.slices.map(change) })) }
}

const find = <Kind extends WarningKind>(result: RaceResult, kind: Kind) =>
  deriveWarnings(result).filter((one): one is Extract<Warning, { kind: Kind }> => one.kind === kind)

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
  assert.equal(found[0]?.twin, suspect[0]?.control?.twin)
})

test('slices that others took are counted', () => {
  const result = cleanResult()
  const total = result.heats.flatMap(({ slices }) => slices).filter(({ phase }) => phase === 'measure').length
  const first = new Set(result.heats.map(({ slices }) => slices.find(({ phase }) => phase === 'measure')))
  const disturbed = withSlices(result, (slice) => (first.has(slice) ? { ...slice, disturbed: true } : slice))
  assert.deepEqual(find(disturbed, 'excluded'), [{ kind: 'excluded', slices: first.size, of: total }])
  assert.deepEqual(find(disturbed, 'crowded'), [])
})

test('cells of which all slices count, because others took most of them, are counted', () => {
  const result = cleanResult()
  const crowded = withSlices(result, (slice) => ({ ...slice, disturbed: slice.cell === 'node/hello direct' }))
  assert.deepEqual(find(crowded, 'crowded'), [{ kind: 'crowded', cells: 1 }])
  assert.deepEqual(find(crowded, 'excluded'), [])
})

test('open loops that others took are counted, and the cells in which they are the most', () => {
  const result = cleanResult()
  const quiet = ['node/hello direct', 'koa/hello direct'].flatMap((cell) =>
    [1, 2, 3].map(() => trialOf({ cell })),
  )
  assert.deepEqual(find(withTrials(result, quiet), 'disturbed-loads'), [])
  const [first] = quiet
  assert.ok(first)
  const one = quiet.map((trial) => ({ ...trial, disturbed: trial === first }))
  const of = quiet.length
  assert.deepEqual(find(withTrials(result, one), 'disturbed-loads'), [
    { kind: 'disturbed-loads', loads: 1, of, crowded: 0 },
  ])
  const all = quiet.map((trial) => ({ ...trial, disturbed: trial.cell === first.cell }))
  const [found] = find(withTrials(result, all), 'disturbed-loads')
  assert.equal(found?.crowded, 1)
})

describe('accounts', () => {
  const told = (serverWait: number | null, serverForeign: number | null, more: Partial<Slice> = {}) =>
    deriveWarnings(
      withSlices(cleanResult(), (slice) => ({
        ...slice,
        disturbance: { ...SILENT, serverWait, serverForeign },
        ...more,
      })),
    ).map(({ kind }) => kind)
  const costless = { cpuSeconds: { app: null, proxy: null, generator: null } }

  test('that are missing altogether', () => assert.deepEqual(told(null, null, costless), ['no-accounting']))
  test('of costs alone, as of containers on a Mac', () =>
    assert.deepEqual(told(null, null), ['disturbance-unknown']))
  test('of waiting alone', () => assert.deepEqual(told(0, null), ['no-foreign-accounting']))
  test('that are there', () => assert.deepEqual(told(0, 0), []))
  test('of open loops alone', () => {
    const of = (disturbance: Slice['disturbance']) =>
      deriveWarnings(withTrials(cleanResult(), [trialOf({ disturbance })])).filter(({ kind }) =>
        /account|unknown/.test(kind),
      )
    const { generatorWait, generatorForeign } = SILENT
    assert.deepEqual(of({ ...SILENT, serverWait: 0, serverForeign: 0 }), [])
    assert.deepEqual(of({ generatorWait, generatorForeign, serverWait: null, serverForeign: null }), [
      { kind: 'disturbance-unknown' },
    ])
  })
})

describe('intervals', () => {
  const withRatios = (low: number | null, high: number | null): RaceResult => {
    const result = cleanResult()
    const { races, ...analysis } = analysisOf(result)
    const baseline = { cell: 'x', ratio: { value: 1, low: 1, high: 1 } }
    const other = { cell: 'y', ratio: { value: 1, low, high } }
    const wide = (race: Race): Race => ({ ...race, baseline: 'x', ratios: [baseline, other] })
    return { ...result, analysis: { ...analysis, races: races.slice(0, 1).map(wide) } }
  }

  test('that one launch cannot give', () => {
    assert.deepEqual(find(withRatios(null, null), 'no-intervals'), [{ kind: 'no-intervals', cells: 1 }])
    assert.deepEqual(find(withRatios(0.9, 1.1), 'no-intervals'), [])
  })
})

test('what was seen while it ran is told apart from what follows from the figures', () => {
  const seen: Warning = { kind: 'busy', share: 0.2 }
  for (const result of [rateResult(), suspectResult(), contendedResult()]) {
    const found = deriveWarnings(result)
    assert.deepEqual(observedWarnings({ warnings: [seen, ...found] }), [seen])
  }
})
