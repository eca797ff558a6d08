import { oneLine } from '@startgrid/cli/text.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Cell } from '../result/cell.ts'
import type { ProbeRace } from '../result/experiment.ts'
import type { Heat } from '../result/heat.ts'
import type { Start } from '../servers/servers.ts'
import { type HeatFrame, newHeat } from './heat.ts'

/** A heat without load: a program of the study measures one system after the other, shuffled. Each has the machine to itself. */
export async function runProbes(
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
    let foreign: number | null = null
    const onForeign = (part: number) => {
      foreign = part
    }
    try {
      const { heat } = planned
      const figures = await race.probe(system, {
        signal,
        heat,
        quick,
        onForeign,
        start: () => startAlone(start, cell, signal),
      })
      record.probes.push({ cell: id, figures, foreign })
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
