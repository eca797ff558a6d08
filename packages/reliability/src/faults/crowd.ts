import { setTimeout as sleep } from 'node:timers/promises'
import { ask, outcomeOf } from '../clients.ts'
import { type Fault, type Finding, Row, type Subject } from '../subject.ts'

/** Clients that open a connection for each request, and for how long. */
const CLIENTS = 300
const CROWD_MS = 4_000

/** An orchestrator waits so long for a probe at most, as a rule; then it asks again, and ends what has not responded three times. */
const PROBE_MS = 10_000

const row = new Row('crowd')

/** More clients than it can serve: it is slow, and no more than that. */
export const crowd: Fault = {
  name: 'crowd',
  seconds: 6,
  isAlone: true,
  run: (subject) => row.confirmed(() => tryCrowd(subject)),
}

async function tryCrowd(subject: Subject): Promise<Finding> {
  const { headers, health, page } = subject.routes
  const { target, whyEnded } = await subject.start()
  const probe = { target: health, headers }
  let served = 0
  const crowd = subject.clients({
    target,
    requests: [{ target: page.path, headers }],
    count: CLIENTS,
    perConnection: 1,
    onSeen: (seen) => {
      if (seen.status === page.status) served++
    },
  })
  await sleep(500)
  const until = performance.now() + CROWD_MS
  const waits: number[] = []
  let silence = 0
  while (performance.now() < until && silence < 3) {
    const beganAt = performance.now()
    const { error } = await ask(target, probe, { timeoutMs: PROBE_MS })
    silence = error === undefined ? 0 : silence + 1
    waits.push(performance.now() - beganAt)
    await sleep(100)
  }
  await Promise.race([crowd.stop(), sleep(30_000, undefined, { ref: false })])
  const reason = whyEnded()
  const what = `${CLIENTS} clients at a time asked for ${page.path}`
  if (reason !== undefined) return row.certain('dies', `while ${what}: ${reason}`)
  const after = await ask(target, probe)
  if (after.error !== undefined) return row.found('hangs', `${health} gets ${outcomeOf(after)} after ${what}`)
  const longest = `${(Math.max(...waits) / 1_000).toFixed(1)} s`
  if (silence > 0) return row.warned(`${health} does not respond within ${PROBE_MS / 1_000} s while ${what}`)
  return row.fine(`${what}: ${served} responses, ${health} within ${longest}, and it serves afterwards`)
}
