import { ERROR_KINDS, type ErrorCounts } from '@startgrid/loadgen'
import type { Cell } from './cell.ts'
import type { CellResult, Round } from './results.ts'
import { type Estimate, geometricMean, pairedRatio } from './stats.ts'
import { WORKLOADS } from './workload.ts'

/** What was measured of one cell so far. */
export interface Measured {
  cell: Cell
  engine: string | undefined
  rounds: Round[]
  errors: ErrorCounts
  /** It was not tried, because the machine lacks a tool. */
  skipped: boolean
  /** Why the number may not be used; the first reason counts. */
  voidedBecause: string | undefined
}

export function createMeasured(cell: Cell): Measured {
  const errors = Object.fromEntries(ERROR_KINDS.map((kind) => [kind, 0])) as ErrorCounts
  return { cell, engine: undefined, rounds: [], errors, skipped: false, voidedBecause: undefined }
}

/** The figures of all cells. A cell without a round counts as voided: there is no number. */
export function summarise(measured: readonly Measured[]): CellResult[] {
  return measured.map((one) => summariseCell(one, findBaseline(one, measured)))
}

function findBaseline({ cell }: Measured, measured: readonly Measured[]): Measured | undefined {
  return measured.find(
    (other) =>
      other.cell.app.name === `node/${cell.app.role}` &&
      other.cell.topology === cell.topology &&
      other.voidedBecause === undefined,
  )
}

function summariseCell(measured: Measured, baseline: Measured | undefined): CellResult {
  const { cell, rounds, errors } = measured
  const { framework, role, name } = cell.app
  const voidedBecause = measured.voidedBecause ?? (rounds.length === 0 ? 'not measured' : undefined)
  const valid = voidedBecause === undefined
  const rate = valid ? geometricMean(rounds.map((round) => round.rate)) : undefined
  return {
    app: name,
    framework,
    role,
    topology: cell.topology,
    engine: measured.engine ?? null,
    workload: `GET ${WORKLOADS[role].path}`,
    rate: rate?.value ?? null,
    rateInterval: rate?.low === undefined || rate.high === undefined ? null : [rate.low, rate.high],
    ratioToNode: valid && baseline ? ratioOf(rounds, baseline.rounds) : null,
    cpuPerRequest: valid ? cpuPerRequest(rounds) : null,
    peakMemory: {
      app: highest(rounds.map((round) => round.peakMemory.app)),
      proxy: highest(rounds.map((round) => round.peakMemory.proxy)),
    },
    errors: ERROR_KINDS.reduce((sum, kind) => sum + errors[kind], 0),
    errorsByKind: errors,
    skipped: measured.skipped,
    voided: !valid,
    voidedBecause: voidedBecause ?? null,
    rounds,
  }
}

/** @returns null if they have no round in common */
function ratioOf(rounds: readonly Round[], baseline: readonly Round[]): CellResult['ratioToNode'] {
  const pairs = pairRounds(rounds, baseline)
  return pairs.length === 0 ? null : toJson(pairedRatio(pairs))
}

function pairRounds(rounds: readonly Round[], baseline: readonly Round[]): [number, number][] {
  return rounds.flatMap(({ round, rate }) => {
    const same = baseline.find((other) => other.round === round)
    return same ? [[rate, same.rate] as [number, number]] : []
  })
}

function toJson({ value, low, high }: Estimate): CellResult['ratioToNode'] {
  return { value, low: low ?? null, high: high ?? null }
}

function cpuPerRequest(rounds: readonly Round[]): CellResult['cpuPerRequest'] {
  const mean = (of: (round: Round) => number | null): number | null => {
    const values = rounds.map((round) => {
      const seconds = of(round)
      return seconds === null ? null : seconds / round.requests
    })
    if (values.includes(null)) return null
    return values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / rounds.length
  }
  return {
    app: mean((round) => round.cpuSeconds.app),
    proxy: mean((round) => round.cpuSeconds.proxy),
    generator: mean((round) => round.cpuSeconds.generator) ?? 0,
  }
}

function highest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>(
    (max, value) => (value === null ? max : Math.max(max ?? 0, value)),
    null,
  )
}

/** Why cells have no number: one sentence per reason. Skipped cells are not in it: what they lack is said at the top. */
export function describeVoided(cells: readonly CellResult[]): string[] {
  const tried = cells.filter((cell) => cell.voided && !cell.skipped)
  const byReason = Map.groupBy(tried, (cell) => cell.voidedBecause ?? '')
  return [...byReason].map(([reason, group]) => {
    const names = group.map(({ app, topology }) => `${app} ${topology}`).join(', ')
    return `${names} ${group.length === 1 ? 'is' : 'are'} void: ${reason}.`
  })
}
