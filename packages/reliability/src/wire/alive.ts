import type { Launch } from '@startgrid/grid/launcher.ts'
import { converse } from './dialogue.ts'
import { message } from './message.ts'

/** Finds an app that has died or no longer answers `/livez`. */
export async function findDeath({ child, target, ready, output }: Launch): Promise<string[]> {
  if (child.exitCode !== null || child.signalCode !== null) {
    const last = output().trim().split('\n').at(-1) ?? ''
    return [`The process ended (${child.exitCode ?? child.signalCode}): ${last.slice(0, 300)}`]
  }
  const probe = message('alive', { line: 'GET /livez HTTP/1.1', fields: ['Connection: close'] })
  const { answers } = await converse(target, probe, { until: 'alive', patienceMs: 20_000 })
  const status = answers[0]?.status
  return status === 200 ? [] : [`/livez of process ${ready.pid} answers ${status ?? 'nothing'} afterwards.`]
}
