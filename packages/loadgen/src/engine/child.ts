/** The generator as a process of its own, started by generator.ts: loads come in on stdin, results go out on stdout. */

import { createInterface } from 'node:readline'
import { serialize } from 'node:v8'
import { sharedNow } from './clock.ts'
import { learn } from './learn.ts'
import type { FromChild, ToChild } from './messages.ts'
import type { LoadPhase, LoadPlan } from './options.ts'
import { measureLoad } from './run-load.ts'

/** `--shares-core`: see `LoadOptions.sharesCore`. */
const sharesCore = process.argv.includes('--shares-core')

let running = new AbortController()

/** What the load waits for. */
let going = Promise.withResolvers<number | undefined>()

function waitForGo(phase: LoadPhase): Promise<number | undefined> {
  going = Promise.withResolvers<number | undefined>()
  reply({ phase })
  return going.promise
}

async function take(plan: LoadPlan, phases: boolean): Promise<void> {
  running = new AbortController()
  try {
    const options = { ...plan, sharesCore, signal: running.signal, ...(phases && { onPhase: waitForGo }) }
    reply({ measured: serialize(await measureLoad(options)).toString('base64') })
  } catch (error) {
    refuse(error)
  }
}

function refuse(error: unknown): void {
  reply({ error: error instanceof Error ? error.message : String(error) })
}

function reply(message: FromChild): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as ToChild
    if ('take' in message) void take(message.take, message.phases)
    else if ('learn' in message) learn(message.learn).then((learnt) => reply({ learnt }), refuse)
    else if ('go' in message) going.resolve(message.at)
    else if ('clock' in message) reply({ clock: sharedNow() })
    else running.abort()
  })
  // The parent stopped this process or died, so nobody needs the result.
  .on('close', () => process.exit())

// Ctrl-C reaches the whole process group, but the parent decides whether a running load ends.
process.on('SIGINT', () => {})

reply({ ready: true })
