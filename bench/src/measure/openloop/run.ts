import type { EnvironmentOptions } from '../../environments/environment.ts'
import type { OpenLoopKind, OpenLoopOptions } from '../../experiment/options.ts'
import { WORKLOADS } from '../../experiment/workloads.ts'
import { analyseOpenLoop } from '../../judge/openloop/analyse.ts'
import type { CellSpec, Heat, OpenLoopResult, Trial } from '../../model/result.ts'
import { attempt, runHeat } from '../heat.ts'
import { type HeatFrame, type HeatPlan, runHeats } from '../heats.ts'
import { type PreparedRun, type RunContext, withPreparedRun } from '../preparation.ts'
import { createRun, openEnvironment } from '../run.ts'
import { Session } from './session.ts'

/** What is done on each launch, and how long that is expected to take. */
export interface Method {
  /** Launches per cell. */
  launches: number
  /** In milliseconds, if nobody disturbs it. */
  expectedMs(cell: CellSpec, launch: number): number
  measure(session: Session, launch: number): Promise<void>
}

/** A result without measurements. Every cell is a race of its own: it is launched apart, so each has the whole warm-up. */
export function createOpenLoopResult(
  kind: OpenLoopKind,
  options: OpenLoopOptions,
  command: string,
): OpenLoopResult {
  const { topologies, p99Ms } = options
  const results = topologies.map((topology) => createRun({ ...options, topologies: [topology] }, command))
  const [first] = results
  if (first === undefined) throw new RangeError('There is no topology to measure.')
  // The A/A twin is for races: here nothing is ranked.
  const cells = results.flatMap((one) => one.cells).filter(({ twinOf }) => twinOf === null)
  const run = {
    ...first,
    trials: [],
    analysis: null,
    cells: cells.map((cell) => ({ ...cell, race: cell.id })),
    settings: { ...first.settings, p99Ms },
  }
  return { ...run, kind }
}

/** Milliseconds of the launches that a result lacks, if nobody disturbs it. */
export function expectedOpenLoopMs(
  { cells, heats }: Pick<OpenLoopResult, 'cells' | 'heats'>,
  method: Method,
): number {
  const done = new Set(heats.map(({ race, heat }) => `${race} ${heat}`))
  const launches = Array.from({ length: method.launches }, (_, index) => index + 1)
  return cells.reduce((sum, cell) => {
    const open = launches.filter((launch) => !done.has(`${cell.race} ${launch}`))
    return sum + open.reduce((own, launch) => own + method.expectedMs(cell, launch), 0)
  }, 0)
}

/**
 * Measures what a result lacks, which is filled in place: in rounds, each with one fresh launch of every cell, in random order, so
 * that a slow minute does not hit one cell alone. One app runs at a time.
 */
export async function runOpenLoops(
  result: OpenLoopResult,
  method: Method,
  context: RunContext<OpenLoopResult>,
): Promise<void> {
  const preparation = {
    ...context,
    openEnvironment: (options: EnvironmentOptions) => openEnvironment(result, options),
    figures: analyseOpenLoop,
  }
  await withPreparedRun(result, preparation, (prepared) =>
    runHeats(prepared, planOfOpenLoop(prepared, method)),
  )
}

type Prepared = Pick<PreparedRun<OpenLoopResult>, 'result'> & {
  environment: Pick<PreparedRun['environment'], 'startServers'>
  drivers: Pick<PreparedRun['drivers'], 'usual'>
}

/** What the heats of an open loop are: each one launch of one cell. */
export function planOfOpenLoop(prepared: Prepared, method: Method): HeatPlan<CellSpec> {
  const { result } = prepared
  const { launches } = method
  return {
    title: '',
    races: result.cells.map(({ race }) => race),
    planned: launches,
    most: launches,
    expectedMs: ({ heat }, [cell]) => (cell === undefined ? 0 : method.expectedMs(cell, heat)),
    longestMs: Number.POSITIVE_INFINITY,
    run: async (frame, cells) => {
      const { heat, trials } = await launch(frame, cells, { prepared, method })
      if (!frame.signal.aborted) result.trials.push(...trials)
      return heat
    },
    isEnough: () => false,
    nameOf: ({ id }) => id,
  }
}

interface LaunchOptions {
  prepared: Prepared
  method: Method
}

async function launch(
  frame: HeatFrame,
  cells: readonly CellSpec[],
  { prepared: { result, environment, drivers }, method }: LaunchOptions,
): Promise<{ heat: Heat; trials: Trial[] }> {
  const driver = drivers.usual
  const trials: Trial[] = []
  const heat = await runHeat<CellSpec>({
    ...frame,
    cells,
    settings: result.settings,
    environment,
    driverOf: () => driver,
    workloadOf: ({ role }) => WORKLOADS[role],
    measure: async (course) => {
      for (const entrant of course.entrants)
        await attempt(course, entrant.cell, () =>
          method.measure(
            new Session(course, { ...entrant, driver }, (one) => trials.push(one)),
            frame.planned.heat,
          ),
        )
    },
  })
  return { heat, trials }
}
