import { createStudyResult } from '../../src/study/plan.ts'
import type { StudyHeat, StudyResult, StudySlice } from '../../src/study/result.ts'
import type { Study } from '../../src/study/study.ts'
import { QUIET } from '../fixtures/evidence.ts'

/** Studies that were measured on paper. */

export const PAPER: Study = {
  name: 'paper',
  title: 'a study on paper',
  question: 'Is fast faster than slow?',
  source: { title: 'Paper', machine: 'a desk', tool: 'a pencil' },
  systems: {
    fast: { title: 'fast', app: { package: 'apps/node', role: 'hello' } },
    slow: { title: 'slow', app: { package: 'apps/express', role: 'hello' } },
    wide: { title: 'wide', app: { package: 'apps/node', role: 'hello' }, cores: 4 },
  },
  races: {
    race: { systems: ['fast', 'slow', 'wide'], workload: { path: '/json', expect: {} }, connections: 64 },
  },
  claims: [
    {
      id: 'twice',
      says: 'fast is twice as fast as slow',
      race: 'race',
      metric: 'rate',
      over: 'fast',
      under: 'slow',
      published: [2, 1],
      because: ({ value }) => `Fast answers ${Math.round(value('race', 'fast', 'rate') ?? 0)} per second.`,
    },
    {
      id: 'wide',
      says: 'four workers are 4 times as fast as one',
      race: 'race',
      metric: 'rate',
      over: 'wide',
      under: 'fast',
      published: [4, 1],
    },
  ],
  steps: [{ what: 'being slow', race: 'race', from: 'fast', to: 'slow' }],
  scaling: [{ title: 'fast', race: 'race', workers: { fast: 1, wide: 4 } }],
}

/** Answers per second of each launch, by system; a launch more is a heat more. */
export type Rates = Readonly<Record<string, readonly number[]>>

/** A result of these rates on two quiet cores: every slice lasts a second and uses all of its core. */
export function measureOnPaper(rates: Rates, study = PAPER): StudyResult {
  const options = { profile: 'quick', asPublished: false, heats: undefined, seed: 1 } as const
  const result = createStudyResult(study, options, 'pnpm bench study paper')
  result.settings.cores = { servers: [0], generator: 1 }
  for (const cell of result.cells) cell.cores.given = 1
  const heats = Math.max(...Object.values(rates).map(({ length }) => length))
  result.heats = Array.from({ length: heats }, (_, index) => heatOf(rates, index))
  return result
}

function heatOf(rates: Rates, index: number): StudyHeat {
  const slices = Object.entries(rates).flatMap(([system, all]) => {
    const rate = all[index]
    return rate === undefined ? [] : [sliceOf(system, rate, 'warmup'), sliceOf(system, rate, 'measure')]
  })
  const startedAt = '2026-11-21T10:00:00.000Z'
  return {
    race: 'race',
    heat: index + 1,
    startedAt,
    seconds: 10,
    slices,
    openLoop: null,
    probes: [],
    spreads: [],
    failures: [],
  }
}

export function sliceOf(system: string, rate: number, phase: 'warmup' | 'measure'): StudySlice {
  const seconds = phase === 'warmup' ? 2 : 1
  return {
    cell: system,
    phase,
    at: 1,
    seconds,
    requests: rate * seconds,
    checked: 10,
    errors: {},
    meanLatency: 64 / rate,
    cpuSeconds: { app: seconds, proxy: 0, generator: seconds },
    disturbance: QUIET,
    disturbed: false,
    repeat: false,
    latency: { p50: 64 / rate, p975: 65 / rate, p99: 66 / rate },
    secondRates: [rate],
    otherConnections: 0,
  }
}
