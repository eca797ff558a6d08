import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readModel } from '../../simulation/model.ts'
import { runStudy, type StudyName } from '../../simulation/study.ts'

/**
 * The short version of `node bench/simulation/coverage.ts`: what its 2,000 runs keep to, and four standard errors of so few. The seed
 * makes it come out the same each time.
 */

const model = readModel()
const RUNS: Record<StudyName, number> = { quick: 150, default: 80, thorough: 20, until: 10 }
const PROMISE = 0.015

/** Of a part near `expected` in so many independent trials. */
const allowance = (expected: number, trials: number) =>
  PROMISE + 4 * Math.sqrt((expected * (1 - expected)) / trials)

for (const name of ['quick', 'default', 'thorough', 'until'] as const) {
  test(`${name}: intervals cover, and twins differ as rarely as they should`, () => {
    const runs = RUNS[name]
    const findings = runStudy(name, { model, runs, seed: 20261121 })
    for (const [metric, found] of Object.entries({ rate: findings.rate, cpu: findings.cpu })) {
      const { ratios, pairs, proxyCosts, falseDifferences, suspects, falseRanks } = found
      // Ratios of one session depend on each other: they are worth about four.
      for (const [what, { coverage }] of Object.entries({ ratios, pairs, proxyCosts }))
        assert.ok(Math.abs(coverage - 0.95) < allowance(0.05, 4 * runs), `${metric}, ${what}: ${coverage}`)
      assert.ok(
        falseDifferences.part < 0.05 + allowance(0.05, 2 * runs),
        `${metric}: ${falseDifferences.part}`,
      )
      assert.ok(suspects.part < 0.005 + allowance(0.005, 2 * runs), `${metric}: ${suspects.part} are suspect`)
      assert.ok(falseRanks.part < 0.05 + allowance(0.05, runs), `${metric}: ${falseRanks.part} have a winner`)
    }
  })
}

test('what others do instead does not cover: the percentile bootstrap over few launches, slices as replicates over many', () => {
  const quick = runStudy('quick', { model, runs: 60, seed: 3 })
  assert.ok(quick.bootstrap.coverage < 0.7, `${quick.bootstrap.coverage}`)
  const thorough = runStudy('thorough', { model, runs: 10, seed: 3 })
  assert.ok(thorough.slices.coverage < 0.93, `${thorough.slices.coverage}`)
})

test('more heats give narrower intervals, and --until stops at its width', () => {
  const widthOf = (name: StudyName) => runStudy(name, { model, runs: 8, seed: 5 }).rate.ratios.halfWidth(0.5)
  const [quick, normal, thorough, until] = [
    widthOf('quick'),
    widthOf('default'),
    widthOf('thorough'),
    widthOf('until'),
  ]
  assert.ok(quick > normal && normal > thorough, `${quick}, ${normal}, ${thorough}`)
  assert.ok(until <= Math.log1p(0.03), `${until}`)
})
