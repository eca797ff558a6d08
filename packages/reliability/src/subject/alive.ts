import { livezStatus } from '@startgrid/conformance/protocol/dialogue.ts'
import type { Launch } from '@startgrid/grid/launcher.ts'

/** Finds an app that has died or no longer responds to `/livez`. */
export async function findDeath({ target, child, ready, output }: Launch): Promise<string[]> {
  const status = await livezStatus(target)
  if (status === 200) return []
  if (child.exitCode === null && child.signalCode === null)
    return [`/livez of process ${ready.pid} gives ${status ?? 'no response'} afterwards.`]
  const said = output().trim().split('\n').at(-1) ?? ''
  return [`The process ended with ${child.exitCode ?? child.signalCode}: ${said.slice(0, 300)}`]
}
