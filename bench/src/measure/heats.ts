import { formatMinutes, formatShort } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { LEAST_HEATS } from '../experiment/budget.ts'
import { type PlannedHeat, planHeats } from '../experiment/cells.ts'
import { wrongCells } from '../judge/gates.ts'
import type { Cell } from '../model/cell.ts'
import type { Heat } from '../model/heat.ts'
import type { Result } from '../model/result.ts'
import type { HeatOptions } from './heat.ts'
import type { PreparedRun } from './preparation.ts'

/** What the engine decides about one heat. */
export type HeatFrame = Pick<HeatOptions, 'planned' | 'expectedMs' | 'signal' | 'onProgress'>

/** What is measured in heats, and how one of them is. */
export interface HeatPlan {
  /** In front of what is told, such as the name of a study. */
  title: string
  races: readonly string[]
  /** Heats per race, and how many more may follow. */
  planned: number
  most: number
  /** So many were asked for, so that one that is dropped is told; default all that are planned. */
  asked?: number
  /** Heats that begin although they may not fit, because fewer give no interval; default 2. */
  least?: number
  /** Milliseconds of the first heat of a race. */
  expectedMs(race: string, cells: readonly Cell[]): number
  run(frame: HeatFrame, cells: readonly Cell[]): Promise<Heat>
  /** Whether what was measured is enough, so that this heat and those after it are not needed. */
  isEnough(planned: PlannedHeat): boolean
  nameOf(cell: Cell): string
}

/** What the loop over heats needs of a run. */
export type HeatsRun = Pick<PreparedRun, 'result' | 'progress' | 'signal' | 'warn' | 'endsAt' | 'store'>

/** In random order, until all are run, it is enough, or the next one does not fit. The result is filled in place, and stored after each heat. */
export async function runHeats(run: HeatsRun, plan: HeatPlan): Promise<void> {
  const { result, progress, signal } = run
  for (let isFirst = true; ; isFirst = false) {
    const open = openHeats(result, plan)
    const [next] = open
    const leftMs = run.endsAt - performance.now()
    if (signal.aborted || next === undefined || plan.isEnough(next)) return
    if (next.heat > (plan.least ?? LEAST_HEATS) && next.expectedMs > leftMs)
      return warnOfDropped(run, plan, open, leftMs)
    const planned = open.filter(({ heat }) => heat <= plan.planned)
    const expectedMs = sumOf(planned)
    if (isFirst) {
      progress.say(`${plural(planned.length, 'heat')}, about ${formatMinutes(expectedMs)} (minutes:seconds).`)
      progress.begin(expectedMs)
    }
    const title = plan.title === '' ? '' : `${plan.title}, `
    const step = `${title}${next.race}, heat ${next.heat} of ${Math.max(plan.planned, next.heat)}`
    const before = spentMs(result)
    const total = before + Math.max(expectedMs, next.expectedMs)
    const isDone = await runOne(run, plan, {
      planned: next,
      expectedMs: next.expectedMs,
      signal: plan.least === 0 ? boundedBy(run) : signal,
      onProgress: (done) => progress.update(Math.min(1, (before + done * next.expectedMs) / total), step),
    })
    if (!signal.aborted && !isDone) return warnOfDropped(run, plan, open, 0)
    if (!signal.aborted) run.store()
  }
}

/** A heat that takes much longer than expected is given up. */
const LATE_PART = 0.05

function boundedBy({ result, signal, endsAt }: HeatsRun): AbortSignal {
  const { maxTimeMs } = result.settings
  if (maxTimeMs === null) return signal
  const leftMs = endsAt - performance.now() + LATE_PART * maxTimeMs
  return AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.round(leftMs)))])
}

interface OpenHeat extends PlannedHeat {
  /** Milliseconds: as long as the last one of its race took, where there was one. */
  expectedMs: number
}

/** Those of the plan that are not done yet, in their order. */
function openHeats(result: Result, plan: HeatPlan): OpenHeat[] {
  const cells = new Map(plan.races.map((race) => [race, validCells(result, race)]))
  const races = plan.races.filter((race) => (cells.get(race) ?? []).length > 0)
  const expected = new Map(
    races.map((race) => {
      const last = result.heats.findLast((one) => one.race === race)
      return [race, last === undefined ? plan.expectedMs(race, cells.get(race) ?? []) : last.seconds * 1000]
    }),
  )
  const done = new Set(result.heats.map(({ race, heat }) => `${race} ${heat}`))
  return planHeats(races, plan.most, result.seed)
    .filter(({ race, heat }) => !done.has(`${race} ${heat}`))
    .map((heat) => ({ ...heat, expectedMs: expected.get(heat.race) ?? 0 }))
}

function warnOfDropped(
  { result, warn }: HeatsRun,
  { planned, asked = planned }: HeatPlan,
  open: readonly OpenHeat[],
  leftMs: number,
): void {
  const dropped = open.filter(({ heat }) => heat <= asked)
  const [first] = dropped
  const maxTimeMs = result.settings.maxTimeMs ?? 0
  if (first === undefined) return
  result.enoughMs = Math.ceil((maxTimeMs - leftMs + sumOf(dropped)) / 10_000) * 10_000
  warn({
    kind: 'time',
    text: `Time was up after ${formatShort(maxTimeMs / 60_000)} minutes: heats from number ${first.heat} on were dropped, so intervals are wider. --max-time ${result.enoughMs / 1000}s would be enough.`,
  })
}

function sumOf(heats: readonly OpenHeat[]): number {
  return heats.reduce((sum, { expectedMs }) => sum + expectedMs, 0)
}

function spentMs({ heats }: Result): number {
  return heats.reduce((sum, { seconds }) => sum + seconds * 1000, 0)
}

/** Those of a race that can be measured. What failed stays void: measuring it again would only cost time. */
function validCells({ cells, heats, conformance }: Result, race: string): Cell[] {
  const own = cells.filter((cell) => cell.race === race && cell.skipped === null)
  const wrong = wrongCells({ conformance, heats })
  return own.filter(({ id }) => !wrong.has(id))
}

/** @returns whether the heat came to its end: half of one has no launches to compare */
async function runOne({ result, progress }: HeatsRun, plan: HeatPlan, frame: HeatFrame): Promise<boolean> {
  const { planned, onProgress, signal } = frame
  const cells = validCells(result, planned.race)
  onProgress(0)
  const heat = await plan.run(frame, cells)
  if (signal.aborted) return false
  result.heats.push(heat)
  for (const { cell, reason } of heat.failures) {
    const spec = cells.find(({ id }) => id === cell)
    progress.say(`${spec === undefined ? cell : plan.nameOf(spec)} is void: ${reason}.`)
  }
  return true
}
