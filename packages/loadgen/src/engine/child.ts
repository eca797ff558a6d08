/** The generator as a process of its own, started by generator.ts: loads come in on stdin, results go out on stdout. */

import { createInterface } from 'node:readline'
import { serialize } from 'node:v8'
import type { LoadPhase, LoadPlan } from './options.ts'
import { measureLoad } from './run-load.ts'

/** What the parent tells the child, one JSON text per line. The end of the stream ends the child. */
export type ToChild = { take: LoadPlan } | { go: true } | { abort: true }

/** What the child sends, one JSON text per line: `ready` once, then one line per load. A load waits at each of its phases for `go`. */
export type FromChild =
  | { ready: true }
  | { phase: LoadPhase }
  /** A measurement as `v8.serialize` writes it, in base64: JSON has neither typed arrays nor infinity. */
  | { measured: string }
  | { error: string }

let running = new AbortController()

/** What the load waits for. */
let going = Promise.withResolvers<void>()

function waitForGo(phase: LoadPhase): Promise<void> {
  going = Promise.withResolvers<void>()
  reply({ phase })
  return going.promise
}

async function take(plan: LoadPlan): Promise<void> {
  running = new AbortController()
  try {
    const measured = await measureLoad({ ...plan, signal: running.signal, onPhase: waitForGo })
    reply({ measured: serialize(measured).toString('base64') })
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) })
  }
}

function reply(message: FromChild): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as ToChild
    if ('take' in message) void take(message.take)
    else if ('go' in message) going.resolve()
    else running.abort()
  })
  // The parent stopped this process or died, so nobody needs the result.
  .on('close', () => process.exit())

// Ctrl-C reaches the whole process group, but the parent decides whether a running load ends.
process.on('SIGINT', () => {})

reply({ ready: true })
