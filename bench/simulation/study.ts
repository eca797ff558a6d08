import { measureByBenchmark } from './method.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import {
  DEFAULT_RUN,
  type Findings,
  halfWidthOf,
  type Ratio,
  type Run,
  Score,
  WATCHED_RACE,
} from './score.ts'
import { World } from './world.ts'

/** Many runs of one scenario: each is measured, judged and compared with what is true. */

/** When a run that is complete gets more heats. */
export type Extension =
  /** Twice, as long as some pair (or every pair) of one race ties: what a reader does who wants an answer. */
  | { kind: 'ties'; which: 'some' | 'every' }
  /** Heat by heat, until every interval is this narrow: a part of 1. */
  | { kind: 'precision'; halfWidth: number }

export interface StudyOptions {
  runs: number
  seed: number
  heats?: number
  extension?: Extension
}

const MOST_EXTENSIONS = 2
const MOST_HEATS = 100

/** @throws {RangeError} if there is no such scenario */
export async function study(
  name: string,
  { runs, seed, heats = DEFAULT_RUN.heats, extension }: StudyOptions,
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
    const findings = await extend(run, heats, extension)
    score.add(world, findings)
  }
  return score
}

async function extend(run: Run, heats: number, extension: Extension | undefined): Promise<Findings> {
  let findings = run.findings()
  if (extension?.kind === 'ties')
    for (let count = 0; count < MOST_EXTENSIONS && ties(findings, extension.which); count++) {
      await run.extend(heats)
      findings = run.findings()
    }
  if (extension?.kind === 'precision')
    for (let count = heats; count < MOST_HEATS && widest(findings) > extension.halfWidth; count++) {
      await run.extend(1)
      findings = run.findings()
    }
  return findings
}

function ties({ pairs }: Findings, which: 'some' | 'every'): boolean {
  const own = pairs.filter(({ race }) => race === WATCHED_RACE)
  const tie = ({ p }: Ratio) => (p ?? 1) >= 0.05
  return which === 'some' ? own.some(tie) : own.every(tie)
}

function widest({ ratios }: Findings): number {
  return Math.max(...ratios.map((ratio) => halfWidthOf(ratio) ?? Number.POSITIVE_INFINITY))
}
