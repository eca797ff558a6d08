/** The generator as a process of its own, started by generator.ts: loads come in on stdin, results go out on stdout. */

import { createInterface } from 'node:readline'
import { serialize } from 'node:v8'
import { sharedNow } from './clock.ts'
import { learnOne } from './learn.ts'
import type { FromChild, LearnPlan, ToChild } from './messages.ts'
import type { LoadPhase } from './options.ts'
import { measureLoad } from './run-load.ts'
import type { Share } from './shares.ts'

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

async function take({ plan, firstMs }: Share, phases: boolean): Promise<void> {
  running = new AbortController()
  try {
    const options = { ...plan, sharesCore, signal: running.signal, ...(phases && { onPhase: waitForGo }) }
    reply({ measured: serialize(await measureLoad(options, firstMs)).toString('base64') })
  } catch (error) {
    refuse(error)
  }
}

async function learn(plan: LearnPlan): Promise<void> {
  try {
    reply({ learnt: await learnOne(plan) })
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
    else if ('learn' in message) void learn(message.learn)
    else if ('go' in message) going.resolve(message.at)
    else if ('clock' in message) reply({ clock: sharedNow() })
    else running.abort()
  })
  // The parent stopped this process or died, so nobody needs the result.
  .on('close', () => process.exit())

// Ctrl-C reaches the whole process group, but the parent decides whether a running load ends.
process.on('SIGINT', () => {})

reply({ ready: true })
