import { setTimeout as sleep } from 'node:timers/promises'
import { startGenerator } from '../engine/generator.ts'
import { type InstrumentCheck, watchWaiting } from './check.ts'
import { startFault } from './faults/fault-server.ts'
import { readHistogram } from './observe.ts'
import { quantile } from './statistics.ts'

const STOPPED_MS = 300
const DURATION_MS = 2_000
const RATE = 500

/** A generator that was stopped reports that, and does not blame the server for its own delay. */
export const stalledCheck: InstrumentCheck = {
  name: 'a stopped generator shows in its lag, and the result says so',
  calmMs: 200,
  async measure() {
    await using server = await startFault('at-once', {})
    const generator = await startGenerator()
    const waited = watchWaiting(server, generator)
    const plan = { target: server.target, path: '/', connections: 256, durationMs: DURATION_MS }
    const running = generator.run({ ...plan, rate: RATE, arrivals: 'constant' })
    await sleep(700)
    process.kill(generator.pid, 'SIGSTOP')
    const stoppedAt = performance.now()
    await sleep(STOPPED_MS)
    const stoppedMs = performance.now() - stoppedAt
    process.kill(generator.pid, 'SIGCONT')
    const result = await running
    const waitedMs = waited()
    await generator.stop()
    // How late each request reached the server. The most punctual one tells when the schedule began.
    const early = (await server.did()).readAt.map((time, n) => time - (n * 1000) / RATE)
    const seen = early.map((time) => time - Math.min(...early))
    const { latency, service, histograms, requests, self } = result
    const figures = [
      { what: 'requests: what it missed is made up for', value: requests, least: 1_000, most: 1_000 },
      // What was due while it was stopped is late by 0 to 300 ms, uniformly: 15 % of all.
      ...[0.05, 0.25, 0.5, 0.75].map((x) => {
        const part = 1 - (x * stoppedMs) / DURATION_MS
        const least = stoppedMs * (1 - x) - 10
        const most = quantile(seen, part) + 10
        return {
          what: `lag at ${part.toFixed(3)}, ms`,
          value: readHistogram(histograms.lag, part),
          least,
          most,
        }
      }),
      // From the intended time the latency has the lag in it; the service time shows that the server had no part in it.
      { what: 'p99, ms', value: latency.p99, least: STOPPED_MS / 2, most: 2 * DURATION_MS },
      { what: 'p90 of service time / latency', value: service.p90 / latency.p90, least: 0, most: 0.5 },
      { what: 'generator-bound, 1 for yes', value: Number(self.bound), least: 1, most: 1 },
    ]
    return { figures, waitedMs }
  },
}
