import { fileURLToPath } from 'node:url'
import { findApps, type Topology } from '@startgrid/grid/matrix.ts'
import { ERROR_KINDS, type ErrorCounts } from '@startgrid/loadgen'
import type { CellResult, Result, Round } from '../src/results.ts'
import { createMeasured, type Measured } from '../src/summary.ts'

/** Results and cells as tests need them. */

export const GOLDEN = fileURLToPath(new URL('golden/', import.meta.url))

export function noErrors(): ErrorCounts {
  return Object.fromEntries(ERROR_KINDS.map((kind) => [kind, 0])) as ErrorCounts
}

export function createRound(round: number, rate: number, more: Partial<Round> = {}): Round {
  return {
    round,
    rate,
    requests: rate / 2,
    seconds: 0.5,
    checked: 10,
    latency: { mean: 1, p50: 1, p90: 2, p99: 3, p999: 4, max: 5, min: 0.5 },
    cpuSeconds: { app: 0.4, proxy: 0, generator: 0.3 },
    peakMemory: { app: 100e6, proxy: 0 },
    ...more,
  }
}

/** A cell that was measured with these rates, round by round from 1; undefined leaves a round out. */
export function createCell(
  name: string,
  topology: Topology,
  rates: readonly (number | undefined)[] = [],
): Measured {
  const [app] = findApps(name)
  if (app === undefined) throw new Error(`There is no ${name}.`)
  const rounds = rates.flatMap((rate, index) => (rate === undefined ? [] : [createRound(index + 1, rate)]))
  return { ...createMeasured({ app, topology }), rounds }
}

/** Every field has a value. */
export function fullResult(): Result {
  return {
    schema: 1,
    startedAt: '2026-11-20T10:00:00.000Z',
    finishedAt: '2026-11-20T10:04:00.000Z',
    command: 'pnpm bench --seed 7',
    seed: 7,
    machine: {
      cpu: 'Example 3000',
      cores: 2,
      memoryBytes: 8 * 2 ** 30,
      os: 'Debian GNU/Linux 13 (trixie)',
      kernel: 'Linux 6.12.0 x86_64',
      governor: 'performance',
    },
    versions: {
      startgrid: 'abc1234',
      node: '26.10.0',
      bun: '1.4.5',
      lockfile: '0123456789abcdef',
      packages: { fastify: '5.12.8', react: '19.3.1' },
    },
    nginx: { kind: 'path', version: '1.30.3', njs: { version: '1.0.2', engine: 'qjs' } },
    driver: { name: 'startgrid', ceiling: 150_000 },
    settings: {
      rounds: 2,
      durationMs: 500,
      warmupMs: 1000,
      connections: 64,
      cores: { server: 0, generator: 1 },
    },
    cautions: ['Other programs use 32 % of this machine: close them, or read the rates as lower bounds.'],
    cells: [fullCell()],
  }
}

export function fullCell(more: Partial<CellResult> = {}): CellResult {
  return {
    app: 'njs/hello',
    framework: 'njs',
    role: 'hello',
    topology: 'nginx',
    engine: 'qjs in NGINX 1.30.3',
    workload: 'GET /json',
    rate: 20_000,
    rateInterval: [19_000, 21_000],
    ratioToNode: { value: 0.9, low: 0.85, high: 0.95 },
    cpuPerRequest: { app: 30e-6, proxy: 20e-6, generator: 5e-6 },
    peakMemory: { app: 20e6, proxy: 19e6 },
    errors: 0,
    errorsByKind: noErrors(),
    skipped: false,
    voided: true,
    voidedBecause: 'this example shows every field',
    rounds: [createRound(1, 20_000)],
    ...more,
  }
}

/** Whatever may be null is null. */
export function emptiestResult(): Result {
  const full = fullResult()
  return {
    ...full,
    finishedAt: null,
    machine: { ...full.machine, governor: null },
    nginx: null,
    driver: { name: 'startgrid', ceiling: null },
    settings: { ...full.settings, cores: null },
    cells: [
      fullCell({
        engine: null,
        rate: null,
        rateInterval: null,
        ratioToNode: null,
        cpuPerRequest: null,
        peakMemory: { app: null, proxy: null },
        voidedBecause: null,
        rounds: [
          createRound(1, 1000, {
            cpuSeconds: { app: null, proxy: null, generator: 0 },
            peakMemory: { app: null, proxy: null },
          }),
        ],
      }),
    ],
  }
}

/** As in `emptiestResult`, where one null hides another. */
export function nextEmptiestResult(): Result {
  const full = fullResult()
  return {
    ...full,
    nginx: { kind: 'path', version: '1.30.3', njs: null },
    cells: [
      fullCell({
        ratioToNode: { value: 1, low: null, high: null },
        cpuPerRequest: { app: null, proxy: null, generator: 0 },
      }),
    ],
  }
}
