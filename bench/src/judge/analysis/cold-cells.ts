import { type ColdStart, findColdStarts } from '@startgrid/stats/warmup-test.ts'
import type { Cell } from '../../model/cell.ts'
import type { Heat, Slice } from '../../model/heat.ts'
import { fitHeat, type Kept, keptSlices } from './passes.ts'

/** Cells whose first slices cost more than later ones: these are dropped, and later heats warm up for longer. */
export interface ColdCell {
  cell: string
  /** What first slices cost over later ones, in the launches that were found last. */
  ratio: number
  /** How many of its first slices do not count, by heat. */
  dropped: ReadonlyMap<Heat, number>
  /** False if no launch became steady. */
  steady: boolean
}

/** Of a false finding at the first look; the n-th look, after the n-th heat of all roles, gets an n-th of it. Simulated, a default run stays below 2 %. */
const LEVEL = 0.01

/** After one more slice of warm-up a cold cell was mostly still cold. */
const MORE_SLICES = 2

/** Launches of one cell that had the same warm-up. */
interface Group extends ColdStart {
  cell: string
  more: number
  heats: Heat[]
}

/**
 * Looks after every heat, as the run did: what was found once stays found, because later launches had more warm-up.
 * @param kept the slices of each heat that count otherwise
 */
export function findColdCells(
  cells: readonly Cell[],
  heats: readonly Heat[],
  kept: ReadonlyMap<Heat, Kept>,
): ColdCell[] {
  const found = [...looksOf(cells, heats, kept).values()]
  return [...Map.groupBy(found, ({ cell }) => cell)].map(([cell, groups]) => ({
    cell,
    ratio: groups.at(-1)?.ratio ?? 1,
    dropped: new Map(
      groups.flatMap((group) => group.heats.map((heat, index) => [heat, group.drop[index] ?? 0] as const)),
    ),
    steady: isSteady(cell, cells, heats, groups),
  }))
}

/**
 * How many more slices of warm-up cells need in the next heats, by cell.
 * @param cells the same array after every heat of a run, so that what earlier heats show is worked out once
 */
export function moreWarmupOf(cells: readonly Cell[], heats: readonly Heat[]): ReadonlyMap<string, number> {
  const kept = new Map(heats.map((heat) => [heat, keptSlices(heat)]))
  const groups = [...looksOf(cells, heats, kept).values()]
  return new Map(
    [...Map.groupBy(groups, ({ cell }) => cell)].map(([cell, own]) => [
      cell,
      Math.max(...own.map(({ more }) => more)) + MORE_SLICES,
    ]),
  )
}

type Looks = ReadonlyMap<string, { seconds: number; residual: number }[]>

/** What heats show of these cells, which stays the same. */
const LOOKS = new WeakMap<readonly Cell[], WeakMap<Heat, Looks>>()

function looksIn(cells: readonly Cell[]): WeakMap<Heat, Looks> {
  const known = LOOKS.get(cells) ?? new WeakMap()
  LOOKS.set(cells, known)
  return known
}

function looksOf(
  cells: readonly Cell[],
  heats: readonly Heat[],
  kept: ReadonlyMap<Heat, Kept>,
): Map<string, Group> {
  const looks = looksIn(cells)
  for (const heat of heats)
    if (!looks.has(heat)) looks.set(heat, looksAt(cells, kept.get(heat)?.slices ?? []))
  const rounds = Math.max(0, ...heats.map(({ heat }) => heat))
  const found = new Map<string, Group>()
  for (let round = 1; round <= rounds; round++) {
    const past = heats.filter(({ heat }) => heat <= round)
    const groups = cells.flatMap((cell) => groupsOf(cell, past))
    const launches = groups.map(({ cell, heats: own }) => own.map((heat) => looks.get(heat)?.get(cell) ?? []))
    for (const [index, one] of findColdStarts(launches, LEVEL / round).entries()) {
      const group = groups[index]
      if (one.cold && group !== undefined) found.set(`${group.cell} ${group.more}`, { ...group, ...one })
    }
  }
  return found
}

function groupsOf({ id, race }: Cell, heats: readonly Heat[]): Pick<Group, 'cell' | 'more' | 'heats'>[] {
  const own = heats.filter(
    (heat) => heat.race === race && heat.slices.some(({ cell, phase }) => cell === id && phase === 'measure'),
  )
  return [...Map.groupBy(own, (heat) => moreIn(heat, id))].map(([more, same]) => ({
    cell: id,
    more,
    heats: same,
  }))
}

function moreIn({ moreWarmup }: Heat, id: string): number {
  return moreWarmup.find(({ cell }) => cell === id)?.slices ?? 0
}

/** What a heat shows of each cell, slice by slice. */
function looksAt(cells: readonly Cell[], slices: readonly Slice[]): Looks {
  const looks = [...residualsOf(cells, slices)].map(([{ cell, seconds }, residual]) => ({
    cell,
    seconds,
    residual,
  }))
  return Map.groupBy(looks, ({ cell }) => cell)
}

/** Of the CPU per request; of the time per request where the system does not tell. */
function residualsOf(cells: readonly Cell[], slices: readonly Slice[]): ReadonlyMap<Slice, number> {
  const cpu = fitHeat(cells, slices, 'cpu').residuals
  if (cpu.size > 0) return cpu
  const rate = fitHeat(cells, slices, 'rate').residuals
  return new Map([...rate].map(([slice, residual]) => [slice, -residual]))
}

/** Some launch settled, or was never found cold. */
function isSteady(
  id: string,
  cells: readonly Cell[],
  heats: readonly Heat[],
  groups: readonly Group[],
): boolean {
  const spec = cells.find((cell) => cell.id === id)
  const all = spec === undefined ? [] : groupsOf(spec, heats)
  return all.some(({ more }) => groups.find((group) => group.more === more)?.steady ?? true)
}
