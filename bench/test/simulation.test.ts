import assert, { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { measureByBenchmark } from '../simulation/method.ts'
import { NOISY, QUIET, SCENARIOS } from '../simulation/scenarios.ts'
import { halfWidthOf, Score } from '../simulation/score.ts'
import { study } from '../simulation/study.ts'
import { World } from '../simulation/world.ts'

const FOLDER = new URL('../simulation/', import.meta.url)

describe('the method', () => {
  /** What 1,000 runs keep to (`simulate.ts`), and four standard errors of so few. The seed makes it come out the same each time. */
  const RUNS = 3
  /** Of a part near `expected` in so many independent trials. */
  const allowance = (expected: number, trials: number) => 4 * Math.sqrt((expected * (1 - expected)) / trials)

  for (const [name, width] of [
    ['noisy', 0.16],
    ['quiet', 0.095],
  ] as const)
    test(`on a ${name} machine has intervals that cover, are narrow, and find nothing that is not there`, async () => {
      const score = await study(name, { runs: RUNS, seed: 20261122 })
      for (const [metric, { coverage, twins, halfWidth, wrong }] of Object.entries(score.metrics)) {
        // Ratios of one race share a baseline: those of a run are worth about one in three.
        const trials = coverage.count / 3
        equal(coverage.count, RUNS * 6 * 7)
        ok(coverage.part > 0.935 - allowance(0.05, trials), `${metric}: ${coverage.part}`)
        ok(twins.part < 0.065 + allowance(0.05, twins.count), `${metric}: ${twins.part}`)
        ok(halfWidth < 1.05 * width, `${metric}: ${halfWidth}`)
        ok(
          wrong.happened <= 1,
          `${metric}: ${wrong.happened} of ${wrong.count} pairs are the wrong way round`,
        )
      }
      equal(score.voided.happened, 0)
      ok(Math.max(...score.seconds) < 330)
    })

  test('is found out if its intervals are too narrow', async () => {
    const world = new World(QUIET, 5)
    const { findings } = await measureByBenchmark(world, { heats: 2, seed: 1 })
    const ratios = findings.ratios.map((ratio) => {
      const width = (halfWidthOf(ratio) ?? 0) / 4
      const value = Math.sqrt((ratio.low ?? 1) * (ratio.high ?? 1))
      return { ...ratio, low: value / (1 + width), high: value * (1 + width) }
    })
    const score = new Score()
    score.add(world, { ...findings, ratios })
    ok(score.metrics.rate.coverage.part < 0.85, `${score.metrics.rate.coverage.part}`)
  })

  test('is scored by what its findings say', () => {
    const world = new World(QUIET, 6)
    const [a, b] = ['bun/hello direct', 'node/hello direct']
    const truth = 1 / Math.exp(world.truth(a, b, 'now'))
    const score = new Score()
    const ratioOf = (low: number | null, high: number | null, p: number | null = null) => {
      return { a, b, metric: 'rate', race: 'hello direct rate', low, high, p } as const
    }
    score.add(world, {
      ratios: [ratioOf(truth * 0.9, truth * 1.1), ratioOf(truth * 1.1, truth * 1.21), ratioOf(null, null)],
      pairs: [ratioOf(0.5, 0.9, 0.01), ratioOf(1.1, 1.5, 0.01), ratioOf(0.8, 1.5, 0.5)],
      twins: [ratioOf(0.9, 1.1, 0.5), ratioOf(1.1, 1.2, 0.01)],
      voided: [a],
    })
    const { coverage, halfWidths, twins, decided, wrong, falseRaces } = score.metrics.rate
    deepEqual([coverage.happened, coverage.count, twins.happened, twins.count], [1, 2, 1, 2])
    ok(Math.abs((halfWidths[1] ?? 0) - (Math.sqrt(1.1) - 1)) < 1e-12)
    // Bun costs less than node, so its rate is higher: an interval below 1 is the wrong way round.
    deepEqual([decided.happened, wrong.happened, decided.count], [2, 1, 3])
    deepEqual([falseRaces.count, score.voided.happened], [0, 1])
  })
})

describe('the simulated machine', () => {
  test('is known to the adapters of the benchmark only', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))
    const textOf = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8')
    const knowing = files.filter((name) => /from '\.\.\/src\//.test(textOf(name)))
    deepEqual(knowing, ['method.ts', 'race.ts'])
  })

  test('is the same with the same seed, and its truths add up', () => {
    const [one, other] = [3, 3].map((seed) => new World(SCENARIOS['noisy-loadings'] ?? NOISY, seed))
    assert.ok(one && other)
    const [a, b] = ['bun/hello direct', 'node/hello direct']
    equal(one.truth(a, b, 'now'), other.truth(a, b, 'now'))
    notEqual(one.truth(a, b, 'now'), one.truth(a, b, 'free'))
    equal(one.truth('node/hello#2 direct', b, 'now'), 0)
    ok(Math.abs(one.truth(a, b, 'free') - Math.log(9.5 / 10.8)) < 1e-12)
    ok(Number.isNaN(one.truth(a, 'nobody', 'free')))
  })
})
