import type { Topology } from '@startgrid/grid/apps.ts'
import { newCell } from '../../../src/experiment/cells.ts'
import { analyse } from '../../../src/judge/analysis.ts'
import type { whyVoid } from '../../../src/judge/gates.ts'
import type { Measured } from '../../../src/judge/launches.ts'
import { newHeat } from '../../../src/measure/heat.ts'
import type { Cell } from '../../../src/model/cell.ts'
import type { Heat, Slice } from '../../../src/model/heat.ts'
import { rankedOf } from '../../fixtures/analysed.ts'
import { createSlice } from '../../fixtures/evidence.ts'
import { golden } from '../../fixtures/golden.ts'

/** Results made by hand, for tests that know what must come out. */

export function cellOf(app: string, topology: Topology = 'direct', twinOf: string | null = null): Cell {
  const [framework = '', role] = app.replace(/#\d+$/, '').split('/')
  return newCell({
    id: `${app} ${topology}`,
    app,
    title: app.includes('#') ? `${framework}${app.slice(app.indexOf('#'))}` : framework,
    race: role === 'ssr' ? 'ssr' : 'hello',
    role: role === 'ssr' ? 'ssr' : 'hello',
    topology,
    twinOf,
    workload: 'GET /',
    connections: 64,
  })
}

/** A measured slice of 0.2 s that nobody disturbed; the core of the server is busy all the time. */
export function sliceOf(cell: string, requests: number, given: Partial<Slice> = {}): Slice {
  return createSlice({
    ...{
      cell,
      requests,
      at: 0,
      checked: 0,
      cpuSeconds: { app: 0.2, proxy: 0, generator: 0.1 },
    },
    disturbance: { serverWait: 0, generatorWait: 0, serverForeign: 0, generatorForeign: 0 },
    ...given,
  })
}

export function heatOf(heat: number, slices: Slice[], given: Partial<Heat> = {}): Heat {
  return {
    ...newHeat({ race: 'hello', heat }),
    ...{ startedAt: '2026-11-21T10:00:00.000Z', seconds: 10, slices },
    ...given,
  }
}

export function measuredOf(cells: Cell[], heats: Heat[]): Measured {
  return {
    stolen: 0,
    pilots: [],
    cells,
    heats,
    conformance: cells.map(({ id }) => ({ cell: id, checked: 1, differences: [], remembered: false })),
    settings: { ...golden('race').settings, heats: heats.length, slices: 1, sliceMs: 200, cores: null },
  }
}

/** As the grid is analysed, without gates: they have tests of their own. */
export function analyseAll(measured: Measured, judge: typeof whyVoid = () => null) {
  return analyse(rankedOf(measured), measured, judge)
}

/** One slice per cell and heat: requests by cell, heat by heat. */
export function raceOf(cells: Cell[], requests: Record<string, number[]>): Measured {
  const heats = Math.max(...Object.values(requests).map(({ length }) => length))
  return measuredOf(
    cells,
    Array.from({ length: heats }, (_, index) =>
      heatOf(
        index + 1,
        cells.flatMap(({ id }) => {
          const count = requests[id]?.[index]
          return count === undefined || Number.isNaN(count) ? [] : [sliceOf(id, count)]
        }),
      ),
    ),
  )
}
