import { measureByBenchmark } from './method.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { DEFAULT_RUN, Score } from './score.ts'
import { World } from './world.ts'

/** Many runs of one scenario: each is measured, judged and compared with what is true. */

export interface StudyOptions {
  runs: number
  seed: number
  heats?: number
}

/** @throws {RangeError} if there is no such scenario */
export async function study(
  name: string,
  { runs, seed, heats = DEFAULT_RUN.heats }: StudyOptions,
): Promise<Score> {
  const scenario: Scenario | undefined = SCENARIOS[name]
  if (scenario === undefined)
    throw new RangeError(`There is no scenario ${name}: take one of ${Object.keys(SCENARIOS).join(', ')}.`)
  const maxSeconds = (DEFAULT_RUN.maxSeconds * heats) / DEFAULT_RUN.heats
  const score = new Score()
  for (let index = 0; index < runs; index++) {
    const world = new World(scenario, seed * 1_000_003 + index)
    const run = await measureByBenchmark(world, {
      ...DEFAULT_RUN,
      heats,
      maxSeconds,
      seed: seed * 7_919 + index,
    })
    score.add(world, run.findings())
  }
  return score
}
