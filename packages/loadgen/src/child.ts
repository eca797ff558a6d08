/** The program of a generator process, started by team.ts: plans come in, measurements go out. */

import { measureLoad } from './load.ts'
import type { LoadPhase, LoadPlan } from './plan.ts'
import type { Measurement } from './result.ts'

/** What the parent says. It disconnects to end the process. */
export type ToChild = { take: LoadPlan } | 'go' | 'abort'

/** What the process says: `ready` once; then of each load its phases, at which it waits for `go`, and how it ended. */
export type FromChild = { ready: true } | { phase: LoadPhase } | { measured: Measurement } | { error: string }

let stop = new AbortController()
let going = Promise.withResolvers<void>()

function onPhase(phase: LoadPhase): Promise<void> {
  going = Promise.withResolvers<void>()
  say({ phase })
  return going.promise
}

async function take(plan: LoadPlan): Promise<void> {
  stop = new AbortController()
  try {
    say({ measured: await measureLoad({ ...plan, signal: stop.signal, onPhase }) })
  } catch (error) {
    say({ error: error instanceof Error ? error.message : String(error) })
  }
}

function say(message: FromChild): void {
  process.send?.(message)
}

process.on('message', (message: ToChild) => {
  if (message === 'go') going.resolve()
  else if (message === 'abort') stop.abort()
  else void take(message.take)
})
// The parent stopped this process or died, so nobody needs the result.
process.on('disconnect', () => process.exit())
// Ctrl-C reaches the whole process group, but the parent decides whether a running load ends.
process.on('SIGINT', () => {})

say({ ready: true })
