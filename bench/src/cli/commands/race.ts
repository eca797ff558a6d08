import { UsageError } from '@startgrid/cli/arguments.ts'
import { listOf } from '@startgrid/cli/text.ts'
import { LoadError, resolveTarget } from '@startgrid/loadgen/plan.ts'
import { readTarget } from '@startgrid/loadgen/request.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { toolsOf, variablesBefore } from '@startgrid/servers/program.ts'
import { createRace, RACE_SETTINGS, type RaceSystem } from '../../experiment/race.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { LEAST_STARTS } from '../../judge/findings.ts'
import { startsOf } from '../../judge/since.ts'
import { isSlower, knowsAll } from '../../judge/verdict.ts'
import { leastRaceMs, runRace } from '../../measure/race.ts'
import { commandOf } from '../../report/output.ts'
import type { Result, Warning } from '../../result/result.ts'
import {
  type Checkout,
  CheckoutError,
  type CheckoutOptions,
  checkOut,
  readBranch,
  readHistory,
  whatDiffers,
  withFilesOf,
} from '../../servers/command/checkout.ts'
import { type Measure, measureAndReport } from '../measure.ts'
import type { Program } from '../program.ts'
import { type RaceOptions, readRaceOptions } from '../race-options.ts'
import { bisect } from './bisect.ts'

/** `race`: servers that nobody here wrote, compared. @returns the exit code */
export async function raceCommand(args: readonly string[], program: Program): Promise<number> {
  const options = readRaceOptions(args, `${program.name} race`)
  assertFits(options)
  await assertNear(options)
  const measure: Measure = (context) => {
    const guard = new Guard()
    return measureRace(options, { ...context, guard }).finally(() => guard.close())
  }
  return measureAndReport([measure], options, program)
}

type Racing = Parameters<Measure>[0] & Pick<CheckoutOptions, 'guard' | 'kept'>

async function measureRace(options: RaceOptions, context: Racing): Promise<Result> {
  const { progress } = context
  const warnings: Warning[] = []
  const endsAt = performance.now() + options.searchMs
  const search = options.bisect ? readHistory(options.git, options.directory) : undefined
  const given =
    options.git.length === 0 ? options.systems.map(withTools) : await checkOutAll(options, context, warnings)
  for (const tools of new Set(given.flatMap((one) => one.tools ?? [])))
    progress.say(`Servers are started with what is on your PATH: ${tools}.`)
  const same = Map.groupBy(given, ({ commit, command, running }) => commit ?? command?.command ?? running)
  for (const twins of same.values())
    if (twins.length > 1) {
      const names = listOf(twins.map(({ name }) => name))
      warnings.push({ kind: 'race', text: `${names} are the same: what differs is the noise of this race.` })
    }
  const { experiment, result } = begin(options, given)
  if (search !== undefined) result.search = search
  const { why, fails, within } = options
  await runRace(experiment, result, {
    ...options,
    ...context,
    isEnough: knowsAll(within, fails),
    warnings,
    asksWhy: (finding) => why && (!fails || isSlower(finding, within) === true),
    needsProfiler: why && !fails,
  })
  if (search !== undefined) {
    const branchOf = (merge: string) => readBranch(merge, options.directory)
    const raceCommit = commitRacer(options, context, given, endsAt)
    await bisect({ ...context, result, endsAt, say: progress.say, branchOf, raceCommit })
  }
  return result
}

/** Of one commit: few starts do not say how noisy they are, and after many another commit may say more. */
const FEWEST = 3
const MOST = 20

/** Races one commit after the other in the same heats as both ends. */
function commitRacer(
  options: RaceOptions,
  context: Racing,
  given: readonly RaceSystem[],
  endsAt: number,
): Parameters<typeof bisect>[0]['raceCommit'] {
  const kept = new Map<string, string>()
  // A line per commit: what each race says of its length and the machine was said of the first one.
  const progress = { ...context.progress, say() {} }
  let { seed } = options
  return async ({ hash }, follow) => {
    const systems = [{ name: hash }]
    const own = await checkOutAll({ ...options, git: [hash], systems }, { ...context, kept }, [])
    seed += 1
    const maxTimeMs = endsAt - performance.now()
    const plan = { ...options, seed, heats: MOST, maxTimeMs, fillsTime: false, twin: false, rate: undefined }
    const { experiment, result } = begin(plan, [...given.slice(0, 1), ...own, ...given.slice(1)])
    const looks = Array.from({ length: MOST - FEWEST + 1 }, (_, index) => FEWEST + index)
    Object.assign(result.settings, { looks, openLoop: null })
    await runRace(experiment, result, {
      ...plan,
      ...context,
      progress,
      save: () => {},
      isEnough: () => follow(startsOf(result)),
    })
    const starts = startsOf(result)
    follow(starts)
    const [failed] = result.heats.flatMap(({ failures }) => failures)
    return starts.length > 0 ? undefined : (failed?.reason ?? 'no start of it counts')
  }
}

function begin(options: RaceOptions, systems: readonly RaceSystem[]) {
  const experiment = createRace({ ...options, systems })
  const command = variablesBefore() + commandOf(options.program, options.words, options.seed)
  const plan = { ...options, profile: 'full' } as const
  const result = createStudyResult(experiment, plan, command)
  Object.assign(result.settings, RACE_SETTINGS, { within: options.within })
  return { experiment, result }
}

/** @throws {UsageError} if the time is too short for a verdict, however fast the systems are */
function assertFits(options: RaceOptions): void {
  const { heats, maxTimeMs = Number.POSITIVE_INFINITY, systems } = options
  if (heats < LEAST_STARTS || systems.length < 2) return
  const leastMs = leastRaceMs(begin(options, systems).result)
  if (maxTimeMs >= leastMs) return
  throw new UsageError(
    `--max-time ${Math.floor(maxTimeMs / 1000)}s is too short for ${LEAST_STARTS} starts of each system, without which there is no verdict: give it at least ${Math.ceil(leastMs / 1000)}s.`,
  )
}

/** @throws {UsageError} if a server runs where it may not be loaded */
async function assertNear({ systems }: RaceOptions): Promise<void> {
  for (const { running } of systems) {
    if (running === undefined) continue
    await resolveTarget(readTarget(running)).catch((error: unknown) => {
      throw error instanceof LoadError ? new UsageError(error.message) : error
    })
  }
}

function withTools(system: RaceSystem): RaceSystem {
  const { command } = system
  return command === undefined ? system : { ...system, tools: toolsOf(command.directory) }
}

/** Both sides alike, so that nothing but their code differs. */
async function checkOutAll(
  { git, command: start, install, build, ready, systems, directory: from }: RaceOptions,
  context: Racing,
  warnings: Warning[],
): Promise<RaceSystem[]> {
  const { say } = context.progress
  const sides: Checkout[] = []
  for (const index of systems.keys())
    sides.push(await checkOut(git[index], { ...context, from, install, build, say }))
  const names = systems.map(({ name }) => name)
  const text = whatDiffers(names, sides)
  if (text !== undefined) warnings.push({ kind: 'race', text })
  return sides.map(({ directory, start: own, env, manager, commit }, index) => {
    const name = names[index] ?? ''
    const command = start === undefined ? own : withFilesOf(start, from, sides)
    if (command === undefined)
      throw new CheckoutError(`${name} has no start script: say how it is started with --command.`)
    const tools = toolsOf(directory, manager)
    // What npm start sets is for the start script.
    const given = start === undefined ? env : { PATH: env.PATH ?? '' }
    return { name, command: { ...ready, command, directory, env: given }, commit, tools }
  })
}
