import { type Figure, type InstrumentCheck, near } from './check.ts'
import { startFault } from './faults/fault-server.ts'
import { observe } from './observe.ts'
import { autocorrelation, distanceFromExponential, gaps, mean, slope, variation } from './statistics.ts'

/** Requests reach the server when the arrival process says so. */

const SECONDS = 2
const CALM_MS = 200

function offer(arrivals: 'poisson' | 'constant', rate: number, threads: number) {
  const plan = { connections: 64, rate, arrivals, seed: 11, threads, durationMs: 1_000 * SECONDS }
  return observe(() => startFault('at-once', {}), plan)
}

export const arrivalChecks: readonly InstrumentCheck[] = [
  ...[1, 2].flatMap((threads) => [poisson(threads), constant(threads)]),
  ...(['constant', 'poisson'] as const).map(offeredRate),
]

function poisson(threads: number): InstrumentCheck {
  return {
    name: `Poisson arrivals from ${threads} threads are a Poisson process to the server`,
    calmMs: CALM_MS,
    async measure() {
      const rate = 150
      const { did, waitedMs } = await offer('poisson', rate, threads)
      const between = gaps(did.readAt)
      const deviation = 1 / Math.sqrt(between.length)
      // Four standard deviations, and something for what the machine does to short gaps.
      const figures = [
        near('requests', did.requests, rate * SECONDS, 4 * Math.sqrt(rate * SECONDS)),
        near('mean gap × rate, ms', mean(between) * rate, 1_000, 4_000 * deviation),
        near('coefficient of variation', variation(between), 1, 4 * deviation + 0.05),
        near('correlation of neighbours', autocorrelation(between), 0, 4 * deviation + 0.05),
        near('distance from exponential', distanceFromExponential(between), 0, 1.6 * deviation + 0.05),
      ]
      return { figures, waitedMs }
    },
  }
}

function constant(threads: number): InstrumentCheck {
  return {
    name: `constant arrivals from ${threads} threads are evenly spaced to the server`,
    calmMs: CALM_MS,
    async measure() {
      const rate = 60
      const { did, waitedMs } = await offer('constant', rate, threads)
      const between = gaps(did.readAt)
      const even = between.filter((gap) => Math.abs(gap * rate - 1_000) < 200).length
      const figures: Figure[] = [
        near('requests', did.requests, rate * SECONDS, threads),
        near('gap × rate, ms', slope(did.readAt) * rate, 1_000, 10),
        // Of exponential gaps, 15 % would be that near to the mean.
        { what: 'gaps within 20 % of the mean', value: even / between.length, least: 0.6, most: 1 },
        { what: 'coefficient of variation', value: variation(between), least: 0, most: 0.4 },
      ]
      return { figures, waitedMs }
    },
  }
}

function offeredRate(arrivals: 'constant' | 'poisson'): InstrumentCheck {
  return {
    name: `the offered rate is achieved: ${arrivals}`,
    calmMs: 2 * CALM_MS,
    async measure() {
      const rate = 2_000
      const { result, did, waitedMs } = await offer(arrivals, rate, 1)
      const { offered, achieved } = result.openLoop ?? { offered: Number.NaN, achieved: Number.NaN }
      const random = arrivals === 'constant' ? 2 : 4 * Math.sqrt(rate / SECONDS)
      const figures = [
        near('offered per second', offered, rate, random),
        near('achieved / offered', achieved / offered, 1, 0.01),
        near('seen by the server / achieved', did.requests / SECONDS / achieved, 1, 0.01),
      ]
      return { figures, waitedMs }
    },
  }
}
