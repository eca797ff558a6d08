import { setTimeout as sleep } from 'node:timers/promises'
import { NoAnswer } from '@startgrid/conformance'
import type { Launch } from '@startgrid/grid/launcher.ts'
import { converse } from '../wire/dialogue.ts'
import { message } from '../wire/message.ts'

/** Whether the process of an app is gone. */
export function hasEnded({ child }: Launch): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Whether it is gone in a moment, when a connection to it has just failed. */
export async function isEnding(app: Launch): Promise<boolean> {
  for (let tries = 0; tries < 10 && !hasEnded(app); tries += 1) await sleep(20)
  return hasEnded(app)
}

/** Finds an app that has died or no longer answers `/livez`. */
export async function findDeath(app: Launch): Promise<string[]> {
  const status = await probe(app)
  if (status === 200) return []
  if (!hasEnded(app)) return [`/livez of process ${app.ready.pid} answers ${status ?? 'nothing'} afterwards.`]
  const said = app.output().trim().split('\n').at(-1) ?? ''
  return [`The process ended with ${app.child.exitCode ?? app.child.signalCode}: ${said.slice(0, 300)}`]
}

async function probe({ target }: Launch): Promise<number | undefined> {
  const request = message('alive', { line: 'GET /livez HTTP/1.1', fields: ['Connection: close'] })
  try {
    const { answers } = await converse(target, request, { until: 'alive', patienceMs: 20_000 })
    return answers[0]?.status
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return undefined
  }
}
