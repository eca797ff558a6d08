import type { CellSpec } from '../model/result.ts'
import type { Options } from './options.ts'
import { CONNECTIONS } from './profiles.ts'
import { TARGET_WARMUP_MS } from './target-profiles.ts'
import { WORKLOADS } from './workloads.ts'

/** What results call the server that already ran: the same in all, so that two of them can be compared. */
const TARGET_NAME = 'target'

/** One cell, without a twin: nothing is launched, so nothing can be launched twice. */
export function planTarget({
  role,
  connections,
  warmupMs,
}: Pick<Options, 'role' | 'connections' | 'warmupMs'>): CellSpec[] {
  if (role === undefined) throw new RangeError('A target has a role.')
  const app = `${TARGET_NAME}/${role}`
  return [
    {
      id: `${app} direct`,
      app,
      framework: TARGET_NAME,
      race: role,
      role,
      topology: 'direct',
      twinOf: null,
      engine: null,
      workload: `GET ${WORKLOADS[role].path}`,
      connections: connections ?? CONNECTIONS[role],
      warmupMs: warmupMs ?? TARGET_WARMUP_MS,
      warmupRequests: 0,
      serverBound: true,
      skipped: null,
    },
  ]
}
