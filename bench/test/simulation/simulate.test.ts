import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { measureByBenchmark } from '../../simulation/method.ts'
import { QUIET } from '../../simulation/scenarios.ts'
import { type Findings, halfWidthOf, Score } from '../../simulation/score.ts'
import { study } from '../../simulation/study.ts'
import { World } from '../../simulation/world.ts'

/**
 * The short version of `node bench/simulation/simulate.ts`: what 1,000 runs keep to, and four standard errors of so few. The seed makes
 * it come out the same each time.
 */

const RUNS = 4

/** Of a part near `expected` in so many independent trials. */
const allowance = (expected: number, trials: number) => 4 * Math.sqrt((expected * (1 - expected)) / trials)

for (const [name, width] of [
  ['noisy', 0.13],
  ['quiet', 0.08],
] as const)
  test(`${name}: intervals cover, are narrow, and find nothing that is not there`, async () => {
    const score = await study(name, { runs: RUNS, seed: 20261122 })
    for (const [metric, { coverage, twins, halfWidth, wrong }] of Object.entries(score.metrics)) {
      // Ratios of one race share a baseline: those of a run are worth about one in three.
      const trials = coverage.count / 3
      assert.equal(coverage.count, RUNS * 6 * 7)
      assert.ok(coverage.part > 0.935 - allowance(0.05, trials), `${metric}: ${coverage.part}`)
      assert.ok(twins.part < 0.065 + allowance(0.05, twins.count), `${metric}: ${twins.part}`)
      assert.ok(halfWidth < 1.05 * width, `${metric}: ${halfWidth}`)
      assert.ok(
        wrong.happened <= 1,
        `${metric}: ${wrong.happened} of ${wrong.count} pairs are the wrong way round`,
      )
    }
    assert.equal(score.voided.happened, 0)
    assert.ok(Math.max(...score.seconds) < 330)
  })

/** One run of a quiet machine. */
async function findingsOf(world: World): Promise<Findings> {
  return (await measureByBenchmark(world, { heats: 2, seed: 1 })).findings()
}

test('a method whose intervals are too narrow is found out', async () => {
  const world = new World(QUIET, 5)
  const findings = await findingsOf(world)
  const score = new Score()
  score.add(world, {
    ...findings,
    ratios: findings.ratios.map((ratio) => {
      const width = (halfWidthOf(ratio) ?? 0) / 4
      const value = Math.sqrt((ratio.low ?? 1) * (ratio.high ?? 1))
      return { ...ratio, low: value / (1 + width), high: value * (1 + width) }
    }),
  })
  assert.ok(score.metrics.rate.coverage.part < 0.85, `${score.metrics.rate.coverage.part}`)
})

test('the scores count what they say', () => {
  const world = new World(QUIET, 6)
  const [a, b] = ['bun/hello direct', 'node/hello direct']
  const truth = 1 / Math.exp(world.truth(a, b, 'now'))
  const score = new Score()
  const ratio = { a, b, metric: 'rate', p: null } as const
  score.add(world, {
    ratios: [
      { ...ratio, low: truth * 0.9, high: truth * 1.1 },
      { ...ratio, low: truth * 1.1, high: truth * 1.21 },
      { ...ratio, low: null, high: null },
    ],
    pairs: [
      { ...ratio, race: 'hello direct rate', low: 0.5, high: 0.9, p: 0.01 },
      { ...ratio, race: 'hello direct rate', low: 1.1, high: 1.5, p: 0.01 },
      { ...ratio, race: 'hello direct rate', low: 0.8, high: 1.5, p: 0.5 },
    ],
    twins: [
      { ...ratio, low: 0.9, high: 1.1, p: 0.5 },
      { ...ratio, low: 1.1, high: 1.2, p: 0.01 },
    ],
    voided: [a],
  })
  const { coverage, halfWidths, twins, decided, wrong, falseRaces } = score.metrics.rate
  assert.deepEqual([coverage.happened, coverage.count], [1, 2])
  assert.ok(Math.abs((halfWidths[1] ?? 0) - (Math.sqrt(1.1) - 1)) < 1e-12)
  assert.deepEqual([twins.happened, twins.count], [1, 2])
  // Bun costs less than node, so its rate is higher: an interval below 1 is the wrong way round.
  assert.deepEqual([decided.happened, wrong.happened, decided.count], [2, 1, 3])
  assert.equal(falseRaces.count, 0)
  assert.equal(score.voided.happened, 1)
})

const PROGRAM = fileURLToPath(new URL('../../simulation/simulate.ts', import.meta.url))

for (const [wrong, what] of [
  [['--scenario', 'calm'], /There is no scenario calm: take one of noisy, /],
  [['--race', '--precision', '3'], /--precision takes a part of 1/],
] as const)
  test(`${wrong.join(' ')} is refused with a sentence`, () => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...wrong], { encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stderr, what)
  })
