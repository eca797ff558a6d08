import { type Estimate, type Interval, pValue, toInterval } from '@startgrid/stats/estimate.ts'
import type { Cell } from '../../model/cell.ts'
import type { GateResult, Metric } from '../../model/figures.ts'
import { describeServers, nameOf } from '../../model/names.ts'
import type { Mode, StoredResult } from '../../model/result.ts'
import { ResultError } from '../../model/result-file.ts'
import { adjust, isShown, smallestRatio } from '../analysis/race.ts'
import type { CellRecord } from '../analysis/record.ts'
import { differencesOf, recordRun } from './differences.ts'
import { findChanges, findUnlikeness, sharedCells } from './likeness.ts'

/** Two results with slices, of the grid or of a study, cell by cell: what follows from them, as plain data. */

export interface Comparison {
  /** Of both. */
  mode: Mode
  metric: Metric
  a: ComparedRun
  b: ComparedRun
  /** What makes the two unlike: sentences. */
  unlike: string[]
  /** Versions that differ. */
  changes: string[]
  races: ComparedRace[]
  /** What the driver reached against NGINX's `return 200`, B over A: no app's code is in it. Null if not measured in both. */
  ceiling: number | null
  /** Cells of either run that cannot be compared. */
  left: LeftCell[]
  /** The smallest ratio above 1 that this comparison had shown at 80 % power for a typical cell, with Holm. Null with one launch. */
  smallestEffect: number | null
}

export interface ComparedRun {
  startedAt: string
  startgrid: string
  command: string
}

/** The cells of one role in one topology, or of one race of a study. */
export interface ComparedRace {
  title: string
  /** What its cells have in common: the median over them of B over A, by metric; null with fewer than three cells. */
  shift: Record<Metric, number | null>
  cells: ComparedCell[]
}

export type Verdict = 'faster' | 'slower' | 'no difference shown'

export interface ComparedCell {
  cell: string
  name: string
  launches: { a: number; b: number }
  /** In the unit of the metric. */
  a: number
  b: number
  /** B over A as measured: with whatever the machine did in one run and not in the other. */
  plain: Interval
  /** The same without the shift of its race; null where that is unknown. */
  normalised: Interval | null
  /** Of the normalised ratio where there is one, else of the plain one; null with one launch. On the scale of logarithms. */
  tested: Estimate | null
  p: number | null
  /** After Holm's correction over all cells of the comparison. */
  pAdjusted: number | null
  verdict: Verdict
}

interface LeftCell {
  cell: string
  reason: string
  /** It had a number in A, and in B its responses were wrong: worse than slow. */
  broken: boolean
}

/** Results that cannot be compared at all; the message is a sentence. */
export class ComparisonError extends ResultError {
  override name = 'ComparisonError'
}

/**
 * Compares B with A, cell by cell.
 *
 * The launches of two runs are independent samples, so the plain ratio is tested as Welch (1947) does, with the moderated variances of
 * the races (stats/variances.ts). But two runs are also one sample each of the machine at an hour, and nothing inside a run tells how
 * hours vary: the plain interval does not cover it. So the ratio is also given without the median shift of its race. A machine that
 * is slower as a whole drops out of it, and so does a change that all apps share (the runtime, packages/shared): the shift itself is
 * reported, without an interval, because two runs cannot have one. Verdicts are of the normalised ratio.
 *
 * @param metric default: CPU per request if both runs have it in all cells, because a process that takes turns on the core halves the
 * rate and moves CPU per request by 0 to 20 %; else the rate
 * @throws {ComparisonError} if one of them is not a race, their modes differ, or no cell is in both
 */
export function compareResults(
  a: StoredResult,
  b: StoredResult,
  { metric }: { metric?: Metric | undefined } = {},
): Comparison {
  const [figuresA, figuresB] = [figuresOf(a, 'A'), figuresOf(b, 'B')]
  if (a.mode !== b.mode)
    throw new ComparisonError(
      `A is of ${describeServers(a)}, B of ${describeServers(b)}: figures of unlike modes are never compared. Measure both in one mode.`,
    )
  const shared = sharedCells(a, b).map(([, spec]) => spec)
  const left = leftCells(a, b, figuresA, figuresB)
  const compared = shared.filter((spec) => isCompared(spec) && !left.some(({ cell }) => cell === spec.id))
  const chosen =
    metric ??
    (compared.every(({ id }) => figuresA.get(id)?.hasCpu && figuresB.get(id)?.hasCpu) ? 'cpu' : 'rate')
  const [recordsA, recordsB] = [recordRun(a), recordRun(b)]
  const races = [
    ...Map.groupBy(compared, ({ race, topology }) => (a.kind === 'study' ? race : `${race} ${topology}`)),
  ].map(([title, specs]) => compareRace(title, specs, recordsA, recordsB, chosen))
  if (races.length === 0)
    throw new ComparisonError('The two results have no cell in common that has a number in both.')
  const cells = races.flatMap((race) => race.cells)
  return {
    mode: a.mode,
    metric: chosen,
    a: runOf(a),
    b: runOf(b),
    unlike: findUnlikeness(a, b),
    changes: findChanges(a, b),
    races: decide(races, chosen),
    ceiling: a.driver.ceiling && b.driver.ceiling ? b.driver.ceiling / a.driver.ceiling : null,
    left,
    smallestEffect: smallestEffectOf(cells),
  }
}

/** What a run knows of a cell. */
interface Known {
  launches: number
  gates: readonly GateResult[]
  voided: boolean
  hasCpu: boolean
}

function figuresOf(result: StoredResult, name: string): ReadonlyMap<string, Known> {
  const { analysis } = result
  if (analysis === null)
    throw new ComparisonError(`${name} has no figures: it was interrupted before its first heat ended.`)
  return new Map(
    analysis.cells.map((one): [string, Known] =>
      'cell' in one
        ? [one.cell, { ...one, hasCpu: one.cpu !== null }]
        : [`${one.race} ${one.system}`, { ...one, hasCpu: one.figures.cpu !== undefined }],
    ),
  )
}

function runOf({ startedAt, versions, command }: StoredResult): ComparedRun {
  return { startedAt, startgrid: versions.startgrid, command }
}

/** Twins are no cells that anybody asked for, and a probe has no slices. */
function isCompared(cell: Cell): boolean {
  return cell.workload !== null && cell.twinOf === null
}

/** Gates that tell of wrong responses, not of the machine or the generator. */
const BREAKING = ['conformance', 'errors', 'responses']

function leftCells(
  a: StoredResult,
  b: StoredResult,
  figuresA: ReadonlyMap<string, Known>,
  figuresB: ReadonlyMap<string, Known>,
): LeftCell[] {
  const ids = new Set([...a.cells, ...b.cells].filter(isCompared).map(({ id }) => id))
  return [...ids].flatMap((cell) => {
    const [inA, inB] = [whyWithout(a, figuresA, cell), whyWithout(b, figuresB, cell)]
    if (inA === null && inB === null) return []
    const reason = [inA && `${inA} in A`, inB && `${inB} in B`].filter((text) => text !== null).join(', ')
    const failed = figuresB.get(cell)?.gates.filter(({ verdict }) => verdict === 'failed') ?? []
    return [{ cell, reason, broken: inA === null && failed.some(({ gate }) => BREAKING.includes(gate)) }]
  })
}

/** Why a run has no number for a cell; null if it has one. */
function whyWithout({ cells }: StoredResult, figures: ReadonlyMap<string, Known>, id: string): string | null {
  const spec = [...cells].find((cell) => cell.id === id)
  if (spec === undefined) return 'not chosen'
  if (spec.skipped !== null) return 'not tried'
  const found = figures.get(id)
  const failed = found?.gates.filter(({ verdict }) => verdict === 'failed').map(({ gate }) => gate) ?? []
  if (found?.voided) return failed.length === 0 ? 'void' : `void (${failed.join(', ')})`
  return found === undefined || found.launches === 0 ? 'not measured' : null
}

function compareRace(
  title: string,
  specs: readonly Cell[],
  a: readonly CellRecord[],
  b: readonly CellRecord[],
  metric: Metric,
): ComparedRace {
  const by = { rate: differencesOf(specs, a, b, 'rate'), cpu: differencesOf(specs, a, b, 'cpu') }
  const shiftOf = (shift: number | null = null) => (shift === null ? null : Math.exp(shift))
  return {
    title,
    shift: { rate: shiftOf(by.rate?.shift), cpu: shiftOf(by.cpu?.shift) },
    cells: (by[metric]?.cells ?? []).map(({ spec, launches, means, plain, normalised }): ComparedCell => {
      const tested = normalised ?? plain
      return {
        cell: spec.id,
        name: nameOf(spec),
        launches,
        a: Math.exp(means.a),
        b: Math.exp(means.b),
        plain:
          plain === null ? { value: Math.exp(means.b - means.a), low: null, high: null } : toInterval(plain),
        normalised: normalised && toInterval(normalised),
        tested,
        p: tested && pValue(tested),
        pAdjusted: null,
        verdict: 'no difference shown',
      }
    }),
  }
}

/** Adds what depends on how many cells are compared. */
function decide(races: readonly ComparedRace[], metric: Metric): ComparedRace[] {
  const adjusted = adjust(races.flatMap(({ cells }) => cells))
  return races.map((race) => ({
    ...race,
    cells: race.cells.map((cell) => {
      const pAdjusted = adjusted.get(cell) ?? null
      return { ...cell, pAdjusted, verdict: verdictOf(cell.tested, pAdjusted, metric) }
    }),
  }))
}

function verdictOf(tested: Estimate | null, pAdjusted: number | null, metric: Metric): Verdict {
  if (tested === null || !isShown({ pAdjusted })) return 'no difference shown'
  return tested.estimate > 0 === (metric === 'rate') ? 'faster' : 'slower'
}

/** Of the cell in the middle, at Holm's first step. */
function smallestEffectOf(cells: readonly ComparedCell[]): number | null {
  const tested = cells.flatMap(({ tested }) => tested ?? [])
  const effects = tested.map((one) => smallestRatio(one, tested.length)).toSorted((a, b) => a - b)
  return effects[Math.floor(effects.length / 2)] ?? null
}
