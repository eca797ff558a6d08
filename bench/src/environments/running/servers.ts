import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Settings } from '../../model/settings.ts'
import { systemOf } from '../environment.ts'
import { beginAccountOf, type Server, type Servers } from '../servers.ts'
import { addressOf, whySilent } from './origin.ts'

/** Servers that run before the run and after it: nothing is started there, and nothing is stopped. */
export function runningServers(
  experiment: Experiment,
  cells: readonly Cell[],
  options: { cores: Settings['cores']; signal: AbortSignal },
): Servers {
  const serverOf = (cell: Cell) => runningServer(systemOf(experiment, cell).running?.origin ?? '', options)
  return {
    running: new Map(cells.map((cell) => [cell.id, serverOf(cell)])),
    failures: new Map(),
    launches: async () => [],
    stop: async () => [],
  }
}

/** Nobody says which processes serve, nor on which core. */
function runningServer(
  origin: string,
  { cores, signal }: { cores: Settings['cores']; signal: AbortSignal },
): Server {
  return {
    target: addressOf(origin),
    whyEnded: async () => {
      const reason = await whySilent(origin, { signal })
      return reason === null ? null : `the server no longer responds (${reason})`
    },
    beginAccount: async (driver) => {
      const end = beginAccountOf({ app: undefined, proxy: [], generator: driver.pids(), cores })
      return async () => {
        const accountFor = await end()
        return (own) => {
          const { cpuSeconds, disturbance } = accountFor(own)
          // There may be a proxy.
          return { cpuSeconds: { ...cpuSeconds, proxy: null }, disturbance }
        }
      }
    },
  }
}
