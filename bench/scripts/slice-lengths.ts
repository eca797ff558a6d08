/**
 * `node bench/scripts/slice-lengths.ts [options]`: do slices of 50 ms give other ratios than slices of 200 ms? Both are taken in turn, in shuffled
 * order, from the same launches. For each pair of apps it prints the ratio in short slices over the ratio in long ones, with its 95 % interval over heats.
 * `--heats N` (default 12), `--passes N` (19), `--role NAME` (hello), `--topology NAME` (direct), `--only A,B`.
 */

import { parseOptions, readInteger } from '@startgrid/cli/arguments.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { fitPassBlocks, type Observation } from '@startgrid/stats/pass-blocks.ts'
import { shuffle } from '@startgrid/stats/random.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { readOptions } from '../src/cli/options.ts'
import { createStartgridDriver } from '../src/drivers/create.ts'
import { NativeEnvironment } from '../src/environments/native/environment.ts'
import { isQuiet } from '../src/judge/analysis/slices.ts'
import { keepQuiet } from '../src/judge/gates/interference.ts'
import { attempt, type Course, runHeat } from '../src/measure/heat.ts'
import { createResult } from '../src/measure/run.ts'
import { measureSlice } from '../src/measure/slice.ts'
import type { CellSpec, Slice } from '../src/model/result.ts'
import { expectedHeatMs } from '../src/plan/cells.ts'
import { WORKLOADS } from '../src/plan/workloads.ts'

const SHORT_MS = 50
const LONG_MS = 200

/** The largest bias that short slices may have: a ratio of 1.015 or 0.985. */
const BOUND = 0.015

type Metric = 'rate' | 'CPU per request'

interface Taken {
  slice: Slice
  /** Index of the cell; the long slices of all cells come after the short ones. */
  cell: number
}

async function main(): Promise<void> {
  const { heats, passes, ...words } = parseOptions(
    process.argv.slice(2),
    {
      heats: { type: 'string', default: '12' },
      passes: { type: 'string', default: '19' },
      role: { type: 'string', default: 'hello' },
      topology: { type: 'string', default: 'direct' },
      only: { type: 'string', default: 'node,fastify,express,koa,hono,bun' },
    },
    'node bench/scripts/slice-lengths.ts',
  )
  const sizes = {
    heats: readInteger('--heats', heats, 2, 100),
    passes: readInteger('--passes', passes, 3, 1000),
  }
  const options = readOptions(Object.entries(words).flatMap(([name, value]) => [`--${name}`, value]))
  // A twin would be compared with its own app.
  const cells = createResult(options, 'rate', '').cells.filter(({ id }) => !id.includes('#'))
  const progress = createProgress()
  const { signal } = new AbortController()
  const environment = new NativeEnvironment({
    ...{ progress, signal, download: false },
    warn: ({ kind }) => progress.say(`(${kind})`),
  })
  await environment.findProxy(cells)
  const driver = await createStartgridDriver(environment.generator)
  const settings = { slices: sizes.passes, sliceMs: SHORT_MS + LONG_MS }
  const found: Record<Metric, number[][]> = { rate: [], 'CPU per request': [] }
  try {
    for (let heat = 1; heat <= sizes.heats; heat++) {
      const taken: Taken[] = []
      const record = await runHeat({
        ...{ cells, environment, signal, settings },
        planned: { race: '', heat, seed: heat },
        expectedMs: expectedHeatMs(cells, settings),
        driverOf: () => driver,
        workloadOf: ({ role }) => WORKLOADS[role],
        measure: (course) => measureBoth(course, sizes.passes, taken),
        moreWarmup: new Map(),
        endsAt: Number.POSITIVE_INFINITY,
        onProgress: () => {},
      })
      for (const { cell, reason } of record.failures) progress.say(`${cell}: ${reason}`)
      // As in a race: all slices count where others disturbed most of them.
      const { kept } = keepQuiet(taken, ({ slice }) => isQuiet(slice))
      for (const metric of ['rate', 'CPU per request'] as const)
        found[metric].push(differences(kept, cells.length, metric))
      print(`heat ${heat}: ${kept.length} of ${taken.length} slices count`)
    }
  } finally {
    await driver.stop()
    await environment.close()
    progress.stop()
  }
  for (const metric of ['rate', 'CPU per request'] as const) report(cells, found[metric], metric)
}

async function measureBoth(course: Course<CellSpec>, passes: number, taken: Taken[]): Promise<void> {
  const turns = course.entrants.flatMap((entrant) =>
    [SHORT_MS, LONG_MS].map((durationMs) => ({ entrant, durationMs })),
  )
  for (let pass = 1; pass <= passes; pass++) {
    for (const { entrant, durationMs } of shuffle(turns, course.random)) {
      const kind = { phase: 'measure' as const, durationMs, pass }
      const slice = await attempt(course, entrant.cell, () => measureSlice(course, entrant, kind))
      const index = course.cells.indexOf(entrant.cell)
      const cell = durationMs === SHORT_MS ? index : course.cells.length + index
      if (slice !== undefined) taken.push({ slice, cell })
    }
  }
}

/** Of each cell: the logarithm of its value in short slices over that in long ones. */
function differences(taken: readonly Taken[], cells: number, metric: Metric): number[] {
  const observations = taken.flatMap(({ slice, cell }): Observation[] => {
    const value =
      metric === 'rate' ? slice.requests / slice.seconds : (slice.cpuSeconds.app ?? 0) / slice.requests
    return value > 0 ? [{ cell, pass: (slice.pass ?? 1) - 1, value: Math.log(value) }] : []
  })
  const classes = Array.from({ length: 2 * cells }, (_, cell) => Number(cell >= cells))
  const { cells: effects } = fitPassBlocks(observations, classes)
  return Array.from(
    { length: cells },
    (_, cell) => (effects[cell] ?? Number.NaN) - (effects[cells + cell] ?? Number.NaN),
  )
}

function report(cells: readonly CellSpec[], heats: readonly number[][], metric: Metric): void {
  print(`\n${metric}: ratios in ${SHORT_MS} ms over ratios in ${LONG_MS} ms, ${heats.length} heats`)
  for (const [one, { id }] of cells.entries())
    for (const [two, { id: other }] of cells.entries()) {
      if (two <= one) continue
      const logs = heats.map((heat) => (heat[one] ?? Number.NaN) - (heat[two] ?? Number.NaN))
      const half = tQuantile(0.975, logs.length - 1) * Math.sqrt(sampleVariance(logs) / logs.length)
      const ends = [mean(logs) - half, mean(logs) + half].map((log) => Math.exp(log) - 1)
      const isOutside = (ends[0] ?? 0) > BOUND || (ends[1] ?? 0) < -BOUND
      const [low, high] = ends.map((end) => `${(100 * end).toFixed(2)} %`)
      print(
        `${id} / ${other}: ${(100 * Math.expm1(mean(logs))).toFixed(2)} % (${low} to ${high})${isOutside ? '  OUTSIDE' : ''}`,
      )
    }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

await main()
