import { setTimeout as sleep } from 'node:timers/promises'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Settings } from '../../model/settings.ts'
import {
  beginAccountOf,
  type Environment,
  type EnvironmentOptions,
  type Server,
  type Servers,
  systemOf,
} from '../environment.ts'
import { proveHere } from '../native/environment.ts'
import { startSystems } from '../native/systems.ts'
import { addressOf, whySilent } from './origin.ts'

/**
 * Servers that run already, perhaps on another machine: only the generator is accounted for. The NGINX that tells its ceiling runs on this machine.
 * @param pauseMs rest before every heat but the first
 */
export async function openRunning(
  experiment: Experiment,
  { pauseMs, warn, signal }: Pick<EnvironmentOptions, 'warn' | 'signal'> & Pick<Settings, 'pauseMs'>,
): Promise<Environment> {
  // Where the server runs is not ours to choose: what else can be said of two cores is about servers.
  const cores = chooseCores((warning) => warning.kind === 'not-pinned' && warn(warning))
  const found = await findNginx({ download: false })
  const nginx = found.kind === 'none' ? undefined : found
  let heats = 0
  return {
    cores,
    generators: [cores?.generator],
    nginx: null,
    hasCeiling: nginx !== undefined,
    // What responded yesterday may have been replaced.
    ingredients: () => null,
    start: async (cells, { pinned }) => {
      const isOurs = cells.every((cell) => systemOf(experiment, cell).running === undefined)
      if (isOurs) {
        const cpus = cores === null ? undefined : String(cores.server)
        const ours = cells.map((cell) => ({ cell, system: systemOf(experiment, cell), nginx, cpus }))
        return startSystems(ours, cores)
      }
      // The proof of equality is no heat.
      if (pinned && heats++ > 0) await sleep(pauseMs, undefined, { signal })
      return runningServers(experiment, cells, { cores, signal })
    },
    prove: ({ target }, contract) => proveHere(target, contract, signal),
    close: async () => {},
  }
}

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
    beginAccount: async (generator) => {
      const end = beginAccountOf({ app: undefined, proxy: [], generator: generator.pids(), cores })
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
