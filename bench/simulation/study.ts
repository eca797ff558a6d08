import { measureByBenchmark } from './method.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { Score } from './score.ts'
import { World } from './world.ts'

/** Many runs of one scenario: each is measured, judged and compared with what is true. */

/** @throws {RangeError} if there is no such scenario */
export async function study(
  name: string,
  { runs, seed, heats = 3 }: { runs: number; seed: number; heats?: number },
): Promise<Score> {
  const scenario: Scenario | undefined = SCENARIOS[name]
  if (scenario === undefined)
    throw new RangeError(`There is no scenario ${name}: take one of ${Object.keys(SCENARIOS).join(', ')}.`)
  const score = new Score()
  for (let index = 0; index < runs; index++) {
    const world = new World(scenario, seed * 1_000_003 + index)
    const { findings } = await measureByBenchmark(world, { heats, seed: seed * 7_919 + index })
    score.add(world, findings)
  }
  return score
}
