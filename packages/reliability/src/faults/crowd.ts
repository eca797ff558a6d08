import { setTimeout as sleep } from 'node:timers/promises'
import { ask, outcomeOf } from '../clients.ts'
import {
  certain,
  confirmed,
  type Fault,
  type Finding,
  fine,
  found,
  type Subject,
  warned,
} from '../subject.ts'

/** Clients that open a connection for each request, and for how long. */
const CLIENTS = 300
const CROWD_MS = 4_000

/** An orchestrator waits so long for a probe at most, as a rule; then it asks again, and ends what has not responded three times. */
const PROBE_MS = 10_000

/** More clients than it can serve: it is slow, and no more than that. */
export const crowd: Fault = {
  name: 'crowd',
  atOnce: 1,
  run: (subject) => confirmed('crowd', () => tryCrowd(subject)),
}

async function tryCrowd(subject: Subject): Promise<Finding[]> {
  const row = 'crowd'
  const { headers, health, pages } = subject.routes
  const [{ path, status } = { path: health, status: 200 }] = pages
  const { target, whyEnded } = await subject.start()
  const probe = { target: health, headers }
  let served = 0
  const crowd = subject.clients({
    target,
    path,
    headers,
    kept: 0,
    fresh: CLIENTS,
    pauseMs: 0,
    onSeen: (seen) => {
      if (seen.status === status) served++
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
  const stopped = crowd.stop()
  await Promise.race([stopped, sleep(30_000, undefined, { ref: false })])
  const reason = whyEnded()
  const what = `${CLIENTS} clients at a time asked for ${path}`
  if (reason !== undefined) return [certain(row, 'dies', `while ${what}: ${reason}`)]
  const after = await ask(target, probe)
  if (after.error !== undefined)
    return [found(row, 'hangs', `${health} gets ${outcomeOf(after)} after ${what}`)]
  const longest = `${(Math.max(...waits) / 1_000).toFixed(1)} s`
  if (silence > 0)
    return [warned(row, `${health} does not respond within ${PROBE_MS / 1_000} s while ${what}`)]
  return [fine(row, `${what}: ${served} responses, ${health} within ${longest}, and it serves afterwards`)]
}
