import { oneLine } from '@startgrid/cli/text.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Cell } from '../model/cell.ts'
import type { ProbeRace } from '../model/experiment.ts'
import type { Heat } from '../model/heat.ts'
import { newHeat } from './heat.ts'
import type { HeatFrame } from './heats.ts'

/** A heat without load: a program of the study measures one system after the other, shuffled. Each has the machine to itself. */
export async function runProbes(
  { planned, signal, onProgress }: HeatFrame,
  cells: readonly Cell[],
  { race, quick }: { race: ProbeRace; quick: boolean },
): Promise<Heat> {
  const beganAt = performance.now()
  const record = newHeat(planned)
  for (const [index, { id, system }] of shuffle(cells, createRandom(planned.seed)).entries()) {
    if (signal.aborted) break
    onProgress(index / cells.length)
    let foreign: number | null = null
    const onForeign = (part: number) => {
      foreign = part
    }
    try {
      const figures = await race.probe(system, { signal, quick, onForeign })
      record.probes.push({ cell: id, figures, foreign })
    } catch (error) {
      if (!signal.aborted) record.failures.push({ cell: id, reason: oneLine(error) })
    }
  }
  record.seconds = (performance.now() - beganAt) / 1000
  return record
}
