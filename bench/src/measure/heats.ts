import { setTimeout as sleep } from 'node:timers/promises'
import { formatMinutes, formatShort } from '@startgrid/cli/numbers.ts'
import { oneLine, plural } from '@startgrid/cli/text.ts'
import { sum } from '@startgrid/stats/moments.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import { type PlannedHeat, planHeats } from '../experiment/cells.ts'
import { expectedRaceMs, LEAST_HEATS, type Pace } from '../experiment/time.ts'
import { analyse } from '../judge/analysis.ts'
import { wrongCells } from '../judge/gates.ts'
import { openRateOf } from '../judge/latencies.ts'
import type { IsEnough } from '../judge/verdict.ts'
import { isProbe, isRanked, type ProbeRace } from '../result/experiment.ts'
import type { Heat } from '../result/heat.ts'
import type { Cell, Result } from '../result/result.ts'
import type { Start } from '../servers/servers.ts'
import { measureAtCommonRate } from './common-rate.ts'
import { type HeatFrame, measurePasses, newHeat, runHeat } from './heat.ts'
import type { PreparedRun } from './preparation.ts'

/** What the loop over heats needs of a run. */
export type HeatsRun = Omit<PreparedRun, 'save'>

interface HeatsOptions {
  /** Heats per race without which a reader is warned; default all that are planned. */
  asked?: number
  /** Asked at each planned look, of commands. */
  isEnough?: IsEnough
  /** What pilots have found, by race. */
  paces?: ReadonlyMap<string, Pace>
}

/**
 * In random order, until all are run, it is enough, or the next one does not fit. The result is filled in place, and stored after each heat.
 * Heats of commands begin only if they fit; of others two always do, because fewer give no interval.
 */
export async function runHeats(
  run: HeatsRun,
  { asked = run.result.settings.heats, paces = new Map(), isEnough = () => false }: HeatsOptions = {},
): Promise<void> {
  const { experiment, result, progress, signal } = run
  const { heats: count, looks = [] } = result.settings
  const isOfCommands = result.pilots.length > 0
  let looked = 0
  const mayEnd = ({ heat }: PlannedHeat) => {
    // What has failed once is void, and the others have nothing to be compared with.
    if (wrongCells(result).size > 0) return true
    const starts = heat - 1
    if (starts === looked || !looks.includes(starts)) return false
    looked = starts
    return isEnough(analyse(experiment, result).findings)
  }
  for (let isFirst = true; ; isFirst = false) {
    const open = openHeats(run, paces)
    const [next] = open
    const leftMs = run.endsAt - performance.now()
    if (signal.aborted || next === undefined || (isOfCommands && mayEnd(next))) return
    if (next.heat > (isOfCommands ? 0 : LEAST_HEATS) && next.expectedMs > leftMs)
      return warnOfDropped(run, asked, open, leftMs)
    const expectedMs = sum(open.map((heat) => heat.expectedMs))
    if (isFirst) {
      const most = looks.length > 1 ? 'At most ' : ''
      progress.say(
        `${most}${plural(open.length, 'heat')}, about ${formatMinutes(expectedMs)} (minutes:seconds).`,
      )
      progress.begin(expectedMs)
    }
    const title = experiment.name === '' ? '' : `${experiment.name}, `
    const step = `${title}${next.race}, heat ${next.heat} of ${count}`
    const before = sum(result.heats.map(({ seconds }) => seconds * 1000))
    const total = before + expectedMs
    const isDone = await runOne(run, {
      planned: next,
      expectedMs: next.expectedMs,
      signal: isOfCommands ? boundedBy(run) : signal,
      onProgress: (done) => progress.update(Math.min(1, (before + done * next.expectedMs) / total), step),
    })
    if (!signal.aborted && !isDone) return warnOfDropped(run, asked, open, 0)
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

/** Those that are not done yet, in their order. */
function openHeats({ experiment, result }: HeatsRun, paces: ReadonlyMap<string, Pace>): OpenHeat[] {
  const expected = new Map(
    Object.entries(experiment.races).flatMap(([name, race]) => {
      const cells = validCells(result, name)
      if (cells.length === 0) return []
      const last = result.heats.findLast((one) => one.race === name)
      const firstMs = expectedRaceMs(race, cells, result.settings, paces.get(name))
      return [[name, last === undefined ? firstMs : last.seconds * 1000] as const]
    }),
  )
  const done = new Set(result.heats.map(({ race, heat }) => `${race} ${heat}`))
  // Of all races: one that is void does not change the seeds of the others.
  return planHeats(Object.keys(experiment.races), result.settings.heats, result.seed)
    .filter(({ race, heat }) => expected.has(race) && !done.has(`${race} ${heat}`))
    .map((heat) => ({ ...heat, expectedMs: expected.get(heat.race) ?? 0 }))
}

/** So many times the time of a race is that of `--max-time`: both ends of a search have half of it. */
export function shareOf({ search }: Pick<Result, 'search'>): number {
  return search === undefined ? 1 : 2
}

function warnOfDropped(
  { result, warn }: HeatsRun,
  asked: number,
  open: readonly OpenHeat[],
  leftMs: number,
): void {
  const dropped = open.filter(({ heat }) => heat <= asked)
  const [first] = dropped
  const maxTimeMs = result.settings.maxTimeMs ?? 0
  if (first === undefined) return
  result.enoughMs =
    shareOf(result) *
    Math.ceil((maxTimeMs - leftMs + sum(dropped.map(({ expectedMs }) => expectedMs))) / 10_000) *
    10_000
  warn({
    kind: 'time',
    text: `Time was up after ${formatShort(maxTimeMs / 60_000)} minutes: heats from number ${first.heat} on were dropped, so intervals are wider. --max-time ${result.enoughMs / 1000}s would be enough.`,
  })
}

/** Those of a race that can be measured. What failed stays void: measuring it again would only cost time. */
function validCells({ cells, heats, conformance }: Result, race: string): Cell[] {
  const own = cells.filter((cell) => cell.race === race && cell.skipped === null)
  const wrong = wrongCells({ conformance, heats })
  return own.filter(({ id }) => !wrong.has(id))
}

/** For so long our own signal may be on its way. */
const INTERRUPTION_MS = 1000

/** @returns whether the heat came to its end: half of one has no launches to compare */
async function runOne(run: HeatsRun, frame: HeatFrame): Promise<boolean> {
  const { experiment, start, generator, result, progress } = run
  const { settings } = result
  const { race: name } = frame.planned
  const cells = validCells(result, name)
  const race = experiment.races[name]
  if (race === undefined) throw new Error(`The experiment ${experiment.name} has no race ${name}.`)
  frame.onProgress(0)
  const heat = isProbe(race)
    ? await runProbes(frame, cells, { race, start, quick: settings.profile === 'quick' })
    : await runHeat({
        ...frame,
        cells,
        settings,
        start,
        generator,
        workloadOf: ({ system }) =>
          race.workloads?.[system] ?? experiment.systems[system]?.workload ?? race.workload,
        // Then what a system can do is known, and it is as warm as it gets.
        measure: async (course) => {
          await measurePasses(course)
          const known = race.openRate ?? openRateOf(result.heats, name)
          await measureAtCommonRate(course, experiment, known)
        },
      })
  // Ctrl-C and a lost terminal end servers that still start, and Node may hear of that first: seen in 1 of 20 on a busy machine.
  if (heat.failures.length > 0)
    await sleep(INTERRUPTION_MS, undefined, { signal: frame.signal }).catch(() => {})
  if (frame.signal.aborted) return false
  result.heats.push(heat)
  for (const { cell, reason } of heat.failures) {
    const spec = cells.find(({ id }) => id === cell)
    progress.say(`${isRanked(race) ? cell : spec?.title} is void: ${reason}.`)
  }
  return true
}

/** A heat without load: a program of the study measures one system after the other, shuffled. Each has the machine to itself. */
async function runProbes(
  { planned, signal, onProgress }: HeatFrame,
  cells: readonly Cell[],
  { race, start, quick }: { race: ProbeRace; start: Start; quick: boolean },
): Promise<Heat> {
  const beganAt = performance.now()
  const record = newHeat(planned)
  for (const [index, cell] of shuffle(cells, createRandom(planned.seed)).entries()) {
    const { id, system } = cell
    if (signal.aborted) break
    onProgress(index / cells.length)
    const context = { signal, heat: planned.heat, quick, start: () => startAlone(start, cell, signal) }
    try {
      record.probes.push({ cell: id, figures: await race.probe(system, context) })
    } catch (error) {
      if (!signal.aborted) record.failures.push({ cell: id, reason: oneLine(error) })
    }
  }
  record.seconds = (performance.now() - beganAt) / 1000
  return record
}

async function startAlone(start: Start, cell: Cell, signal: AbortSignal) {
  const { running, failures, stop } = await start([cell], { pinned: false, signal })
  const server = running.get(cell.id)
  if (server !== undefined) return { target: server.target, stop }
  await stop()
  throw new Error(`${cell.title}: ${failures.get(cell.id)}`)
}
