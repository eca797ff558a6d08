import { type Figure, type InstrumentCheck, near } from './check.ts'
import { startFault } from './faults/fault-server.ts'
import { type Observed, observe, readHistogram, respondedAfter } from './observe.ts'
import { quantile } from './statistics.ts'

/** In open loop, latency counts from the intended time: against servers that stand still or cannot keep up. */

/** What the kernel, timers and the responses to a backlog take. */
const SLACK_MS = 10
/** Theory holds if server and generator could run nearly all the time. */
const CALM = 0.12

const FREEZE = { frozenMs: 200, everyMs: 500 }
/** Whole periods: each point of the period gets the same number of arrivals, wherever the load begins. */
const PERIODS_MS = 4 * FREEZE.everyMs
const PARTS = [0.5, 0.7, 0.8, 0.9, 0.99]

export const openLoopChecks: readonly InstrumentCheck[] = [
  {
    name: 'a server that stands still for part of each period: as many connections as needed',
    calmMs: CALM * PERIODS_MS,
    async measure() {
      const plan = { connections: 256, rate: 500, arrivals: 'constant', durationMs: PERIODS_MS } as const
      const observed = await observe(() => startFault('freeze', FREEZE), plan)
      const { latency, service } = observed.result.histograms
      // No request had to wait for a connection, so the service time is the whole truth here.
      const frozen = [
        ...frozenFigures('latency', latency, observed),
        ...frozenFigures('service time', service, observed),
      ]
      return trial(observed, [...correctedFigures(observed, plan.rate), ...frozen])
    },
  },
  {
    name: 'the same with few connections: only the corrected latency shows it',
    calmMs: CALM * PERIODS_MS,
    async measure() {
      const plan = { connections: 8, rate: 500, arrivals: 'constant', durationMs: PERIODS_MS } as const
      const observed = await observe(() => startFault('freeze', FREEZE), plan)
      const { histograms, service } = observed.result
      // Only the first 8 of each freeze are sent before it ends: 3 % of all.
      const hidden = readHistogram(histograms.service, 0.9) / readHistogram(histograms.latency, 0.9)
      return trial(observed, [
        { what: 'p90 of service time / latency', value: hidden, least: 0, most: 0.5 },
        {
          what: 'longest service time, ms',
          value: service.max,
          least: FREEZE.frozenMs - SLACK_MS,
          most: 1_000,
        },
        ...correctedFigures(observed, plan.rate),
        ...frozenFigures('latency', histograms.latency, observed),
      ])
    },
  },
  {
    name: 'the same with Poisson arrivals',
    calmMs: CALM * PERIODS_MS,
    async measure() {
      const plan = { connections: 512, rate: 2_000, seed: 3, durationMs: PERIODS_MS }
      const observed = await observe(() => startFault('freeze', FREEZE), plan)
      // Four standard deviations of the part of so many random arrivals that meets a freeze.
      const random = 4 * Math.sqrt(0.25 / observed.result.requests)
      return trial(observed, frozenFigures('latency', observed.result.histograms.latency, observed, random))
    },
  },
  ...[32, 1_024].map(tooMuch),
]

function tooMuch(connections: number): InstrumentCheck {
  const perSecond = 100
  const plan = { connections, rate: 2 * perSecond, arrivals: 'constant', durationMs: 1_000 } as const
  return {
    name: `twice what a server can do, ${connections} connections: latency grows by the second`,
    calmMs: CALM * 2 * plan.durationMs,
    async measure() {
      const observed = await observe(() => startFault('capacity', { perSecond }), plan)
      const { result, waitedMs } = observed
      const slack = SLACK_MS + waitedMs
      return trial(observed, [
        near('requests', result.requests, (plan.rate * plan.durationMs) / 1_000, 0),
        // The k-th arrives at k / 2C and gets its response at k / C: it takes as long as the load had run when it arrived.
        ...[0.1, 0.5, 0.9, 0.99].map((part) =>
          near(
            `latency at ${part}, ms`,
            readHistogram(result.histograms.latency, part),
            plan.durationMs * part,
            slack,
          ),
        ),
        near('mean latency, ms', result.latency.mean, plan.durationMs / 2, slack),
        near('capacity / rate', perSecond / result.rate, 1, Math.max(0.01, slack / plan.durationMs)),
        ...correctedFigures(observed, plan.rate),
      ])
    },
  }
}

/** With the lateness of the generator alone. */
function trial(observed: Observed, figures: readonly Figure[]) {
  const lag = readHistogram(observed.result.histograms.lag, 0.9)
  return {
    figures: [...figures, near('p90 of the lag, ms', lag, 0, slackOf(observed))],
    waitedMs: observed.waitedMs,
  }
}

/** How late responses may be read: no single stall was longer than some part of all waiting. */
function slackOf({ waitedMs }: Observed): number {
  return SLACK_MS + waitedMs / 4
}

/** A response cannot be read before it is sent, but later if the generator had no core. */
function correctedFigures(observed: Observed, rate: number): Figure[] {
  const truth = respondedAfter(observed.did, rate)
  return [0.1, 0.3, ...PARTS].map((part) => {
    const sent = quantile(truth, part)
    return {
      what: `latency at ${part} by the server's account, ms`,
      value: readHistogram(observed.result.histograms.latency, part),
      least: sent - SLACK_MS,
      most: sent + slackOf(observed),
    }
  })
}

/**
 * A request that arrives while the server stands still waits for the rest of it: uniformly from 0 to F. So with F out of every T ms frozen,
 * a part x · F/T of all requests waits longer than F · (1 − x). Percentiles move by no more than the part of all requests that is uncertain.
 */
function frozenFigures(what: string, encoded: string, { waitedMs }: Observed, random = 0): Figure[] {
  const { frozenMs, everyMs } = FREEZE
  const uncertain = random + waitedMs / PERIODS_MS
  const theory = (part: number) => Math.max(0, frozenMs * (1 - ((1 - part) * everyMs) / frozenMs))
  return PARTS.map((part) => ({
    what: `${what} at ${part} by theory, ms`,
    value: readHistogram(encoded, part),
    least: theory(part - uncertain) - SLACK_MS,
    most: theory(part + uncertain) + SLACK_MS + waitedMs,
  }))
}
