import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { measureByBenchmark } from '../simulation/method.ts'
import { QUIET } from '../simulation/scenarios.ts'
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
})

test('the simulated machine is known to the adapters of the benchmark only', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))
  const textOf = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8')
  const knowing = files.filter((name) => /from '\.\.\/src\//.test(textOf(name)))
  deepEqual(knowing, ['method.ts', 'race.ts'])
})
