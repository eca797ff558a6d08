import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, fine, warned } from '../finding.ts'
import type { Subject } from '../subject.ts'

/** Clients that open a connection for each request. */
const CLIENTS = 300

/** An orchestrator waits so long for a probe at most, as a rule; then it asks again, and ends what has not responded three times. */
const PROBE_MS = 10_000

/** More clients than it can serve: it is slow, and no more than that. */
export async function tryCrowd(subject: Subject): Promise<Finding> {
  const { headers, health, page } = subject.routes
  const server = await subject.start()
  let served = 0
  const crowd = subject.clients({
    target: server.target,
    requests: [{ target: page.path, headers }],
    count: CLIENTS,
    perConnection: 1,
    onSeen: ({ status }) => {
      if (status === page.status) served++
    },
  })
  await sleep(500)
  const until = performance.now() + 4_000
  let [longest, silence] = [0, 0]
  while (performance.now() < until && silence < 3) {
    const { seen, ms } = await subject.probe(server, { timeoutMs: PROBE_MS })
    silence = seen.error === undefined ? 0 : silence + 1
    longest = Math.max(longest, ms)
    await sleep(100)
  }
  await Promise.race([crowd.stop(), sleep(30_000, undefined, { ref: false })])
  const what = `${CLIENTS} clients at a time asked for ${page.path}`
  const missing = await subject.missing(server, what)
  if (missing !== undefined) return missing
  if (silence > 0) return warned(`${health} does not respond within ${PROBE_MS / 1_000} s while ${what}`)
  const seconds = (longest / 1_000).toFixed(1)
  return fine(`${what}: ${served} responses, ${health} within ${seconds} s, and it serves afterwards`)
}
