import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural } from '@startgrid/cli/text.ts'
import { heatsThatFit, type OpenHeat, SHORTENED_PASSES, shareOf } from '../experiment/budget.ts'
import { type PlannedHeat, planHeats } from '../experiment/cells.ts'
import { moreWarmupOf } from '../judge/analysis/cold-cells.ts'
import type { Cell } from '../model/cell.ts'
import type { Heat } from '../model/heat.ts'
import type { Run, StoredResult } from '../model/result.ts'
import type { HeatOptions } from './heat.ts'
import type { PreparedRun } from './preparation.ts'

/** What the engine decides about one heat. */
export type HeatFrame = Pick<
  HeatOptions,
  'planned' | 'expectedMs' | 'moreWarmup' | 'endsAt' | 'signal' | 'onProgress'
>

/** What is measured in heats, and how one of them is. */
export interface HeatPlan {
  /** In front of what is told, such as the name of a study. */
  title: string
  races: readonly string[]
  /** Heats per race, and how many more may follow. */
  planned: number
  most: number
  /** So many are worth more than all their passes. */
  few?: number
  /** So many were asked for, so that one that is dropped is told; default all that are planned. */
  asked?: number
  /** Milliseconds of a heat with so many passes. The first of a race may do something else than the others. */
  expectedMs(planned: Pick<PlannedHeat, 'race' | 'heat'>, cells: readonly Cell[], passes: number): number
  /** For how long a heat may take passes, in milliseconds. */
  longestMs: number
  run(frame: HeatFrame, cells: readonly Cell[]): Promise<Heat>
  /** Whether what was measured is enough, so that this heat and those after it are not needed. */
  isEnough(planned: PlannedHeat): boolean
  nameOf(cell: Cell): string
  /** Whether a cell that was cold in earlier heats gets the same warm-up nevertheless. */
  keepsWarmup?: boolean
}

/** What the loop over heats needs of a run. */
export type HeatsRun = Pick<
  PreparedRun<StoredResult>,
  'result' | 'progress' | 'signal' | 'warn' | 'endsAt' | 'store'
>

/** In random order, until all are run, it is enough, or time is up. The result is filled in place, and stored after each heat. */
export async function runHeats(run: HeatsRun, plan: HeatPlan): Promise<void> {
  const { result, progress, signal, store } = run
  const { settings } = result
  for (let isFirst = true; ; isFirst = false) {
    const open = openHeats(result, plan).filter(
      (one, _, [first]) => one.heat <= Math.max(plan.planned, first?.heat ?? 0),
    )
    const leftMs = run.endsAt - performance.now()
    const heats = heatsThatFit(open, leftMs, plan.few)
    const [next] = heats
    if (signal.aborted || open[0] === undefined || plan.isEnough(open[0])) return
    if (next === undefined) {
      const { asked = plan.planned } = plan
      const dropped = open.filter(({ heat }) => heat <= asked)
      const [first] = dropped
      if (first !== undefined)
        run.warn({
          kind: 'heats-dropped',
          from: first.heat,
          maxTimeMs: settings.maxTimeMs ?? 0,
          enoughMs: Math.ceil(((settings.maxTimeMs ?? 0) - leftMs + fullMsOf(dropped)) / 10_000) * 10_000,
        })
      return
    }
    const planned = heats.filter(({ heat }) => heat <= plan.planned)
    const expectedMs = fullMsOf(planned)
    if (isFirst) {
      const ms = Math.min(Math.max(0, leftMs), expectedMs)
      const fewer =
        expectedMs > leftMs
          ? ` All passes would take ${formatMinutes(expectedMs)}, so each cell gets fewer: see --max-time.`
          : ''
      progress.say(`${plural(planned.length, 'heat')}, about ${formatMinutes(ms)} (minutes:seconds).${fewer}`)
      progress.begin(ms)
    }
    const title = plan.title === '' ? '' : `${plan.title}, `
    const step = `${title}${next.race}, heat ${next.heat} of ${Math.max(plan.planned, next.heat)}`
    const before = spentMs(result)
    const total = before + Math.max(expectedMs, next.fullMs)
    await runOne(run, plan, {
      planned: next,
      expectedMs: next.fullMs,
      endsAt: performance.now() + Math.min(plan.longestMs, shareOf(heats, leftMs) - STOP_MS),
      onProgress: (done) => progress.update(Math.min(1, (before + done * next.fullMs) / total), step),
    })
    if (!signal.aborted) store()
  }
}

interface OpenRaceHeat extends PlannedHeat, OpenHeat {}

/** Those of the plan that are not done yet, with what they will take. */
function openHeats(result: Run, plan: HeatPlan): OpenRaceHeat[] {
  const { slices } = result.settings
  const known = new Map(
    plan.races.map((race) => [race, { cells: validCells(result, race), pace: paceOf(result, plan, race) }]),
  )
  return remainingHeats(result, plan).map((heat) => {
    const { cells = [], pace = 1 } = known.get(heat.race) ?? {}
    const msOf = (passes: number) => pace * plan.expectedMs(heat, cells, passes)
    return {
      ...heat,
      fullMs: msOf(slices),
      halfMs: msOf(slices / 2),
      shortMs: msOf(Math.min(slices / 2, SHORTENED_PASSES)),
    }
  })
}

function fullMsOf(heats: readonly OpenHeat[]): number {
  return heats.reduce((sum, { fullMs }) => sum + fullMs, 0)
}

/** How much longer the last heat of a race took than expected. */
function paceOf({ heats, cells }: Run, plan: HeatPlan, race: string): number {
  const last = heats.findLast((one) => one.race === race)
  if (last === undefined) return 1
  const measured = new Set(last.slices.map(({ cell }) => cell))
  const passes = Math.max(1, ...last.slices.map(({ pass }) => pass ?? 0))
  const own = cells.filter(({ id }) => measured.has(id))
  const expectedMs = own.length === 0 ? last.seconds * 1000 : plan.expectedMs(last, own, passes)
  return Math.max(1, (last.seconds * 1000) / expectedMs)
}

function spentMs({ heats }: Run): number {
  return heats.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

function remainingHeats(result: Run, plan: HeatPlan): PlannedHeat[] {
  const races = plan.races.filter((race) => validCells(result, race).length > 0)
  const done = new Set(result.heats.map(({ race, heat }) => `${race} ${heat}`))
  return planHeats(races, plan.most, result.seed).filter(({ race, heat }) => !done.has(`${race} ${heat}`))
}

/** Those of a race that can be measured. What failed stays void: measuring it again would only cost time. */
function validCells({ cells, heats, conformance }: Run, race: string): Cell[] {
  const own = cells.filter((cell) => cell.race === race && cell.skipped === null)
  const failed = new Set(heats.flatMap(({ failures }) => failures.map(({ cell }) => cell)))
  const wrong = wrongCells({ conformance, heats })
  return own.filter(({ id }) => !failed.has(id) && !wrong.has(id))
}

/** What breaks the contract, or gave wrong responses. */
function wrongCells({ conformance, heats }: Pick<Run, 'conformance' | 'heats'>): ReadonlySet<string> {
  const wrong = new Set(
    conformance.filter(({ differences }) => differences.length > 0).map(({ cell }) => cell),
  )
  for (const { slices } of heats)
    for (const { cell, errors } of slices) if (Object.keys(errors).length > 0) wrong.add(cell)
  return wrong
}

async function runOne(
  { result, signal, progress }: HeatsRun,
  plan: HeatPlan,
  frame: Omit<HeatFrame, 'moreWarmup' | 'signal'>,
): Promise<void> {
  const { planned, onProgress } = frame
  const cells = validCells(result, planned.race)
  onProgress(0)
  // By what the heats before this one showed, of all races.
  const past = result.heats.filter(({ heat }) => heat < planned.heat)
  const moreWarmup = plan.keepsWarmup ? new Map<string, number>() : moreWarmupOf(result.cells, past)
  const heat = await plan.run({ ...frame, moreWarmup, signal }, cells)
  if (signal.aborted) return // half a heat has no launches to compare
  result.heats.push(heat)
  for (const { cell, reason } of heat.failures) {
    const spec = cells.find(({ id }) => id === cell)
    progress.say(`${spec === undefined ? cell : plan.nameOf(spec)} is void: ${reason}.`)
  }
}

/** The last pass, and stopping the servers. */
const STOP_MS = 1500
