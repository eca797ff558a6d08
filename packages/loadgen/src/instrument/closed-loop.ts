import type { LoadPlan } from '../engine/options.ts'
import { type InstrumentCheck, near } from './check.ts'
import { startFault } from './faults/fault-server.ts'
import { observe } from './observe.ts'
import { quantile } from './statistics.ts'

/** In closed loop the reported latency is the one that is built into the server. */

/** What the kernel and the generator may add to a latency at the median. */
const ADDED_MS = 4

export const closedLoopChecks: readonly InstrumentCheck[] = [
  ...[20, 50].map(constantDelay),
  littlesLaw({ connections: 1 }, 10),
  littlesLaw({ connections: 32 }, 10),
  littlesLaw({ connections: 4, pipeline: 8 }, 20),
  {
    name: 'closed loop hides a server that stands still for two fifths of the time',
    calmMs: 150,
    async measure() {
      const connections = 8
      const start = () => startFault('freeze', { frozenMs: 200, everyMs: 500 })
      const { result, did, waitedMs } = await observe(start, { connections, durationMs: 1_500 })
      const { p99, max } = result.latency
      const figures = [
        // Each freeze catches each connection once: a few responses in thousands.
        {
          what: 'caught by a freeze, %',
          value: (100 * did.faults * connections) / result.requests,
          least: 0,
          most: 1,
        },
        { what: 'p99, ms', value: p99, least: 0, most: 20 },
        { what: 'maximum, ms', value: max, least: 190, most: 300 },
      ]
      return { figures, waitedMs }
    },
  },
]

function constantDelay(ms: number): InstrumentCheck {
  return {
    name: `a constant delay of ${ms} ms is reported as such`,
    calmMs: 60,
    async measure() {
      const { result, did, waitedMs } = await observe(() => startFault('delay', { ms }), {
        connections: 16,
        durationMs: 600,
      })
      // The server responds in the order of the requests.
      const held = did.respondedAt.map((time, n) => time - (did.readAt[n] ?? Number.NaN))
      const { p50 } = result.latency
      const figures = [{ what: 'median, ms', value: p50, least: ms, most: quantile(held, 0.5) + ADDED_MS }]
      return { figures, waitedMs }
    },
  }
}

function littlesLaw(shape: Pick<LoadPlan, 'connections' | 'pipeline'>, ms: number): InstrumentCheck {
  const { connections, pipeline = 1 } = shape
  return {
    name: `Little's law: ${connections} connections × ${pipeline} = rate × mean latency`,
    calmMs: 100,
    async measure() {
      const plan = { ...shape, warmupMs: 100, durationMs: 1_000 }
      const { result, waitedMs } = await observe(() => startFault('delay', { ms }), plan)
      const inFlight = (result.rate * result.latency.mean) / 1_000
      return {
        figures: [near('in flight / sent at once', inFlight / (connections * pipeline), 1, 0.03)],
        waitedMs,
      }
    },
  }
}
