import { checkConformance } from '@startgrid/conformance'
import type { Target } from '@startgrid/grid/launcher.ts'
import { chooseAllCores } from '@startgrid/machine/cores.ts'
import { fitToMachine } from '../../experiment/cells.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import { proofOf } from '../conformance.ts'
import {
  type Contract,
  type Environment,
  type EnvironmentOptions,
  type Proof,
  systemOf,
} from '../environment.ts'
import { equip, findNginxes, nginxOf, versionOf } from '../nginxes.ts'
import { type Entrant, startSystems } from './systems.ts'

/** Servers, NGINX and generator are processes of this machine. Cells are given the cores that it has for them. */
export async function openNative(
  experiment: Experiment,
  cells: readonly Cell[],
  options: EnvironmentOptions,
): Promise<Environment> {
  const found = chooseAllCores(options.warn)
  fitToMachine(cells, found?.servers.length ?? null)
  const wanted = Math.max(1, ...cells.map((cell) => cell.cores.wanted))
  const cores = found && { ...found, servers: found.servers.slice(0, wanted) }
  const nginxes = await findNginxes(experiment, cells, options)
  for (const cell of cells) cell.skipped ??= systemOf(experiment, cell).lacks?.(options.download) ?? null
  const isNeeded = cells.some((cell) => nginxOf(systemOf(experiment, cell), nginxes) !== undefined)
  return {
    cores,
    generator: { cpu: cores?.generator },
    facts: {},
    nginx: isNeeded && nginxes.usual !== undefined ? versionOf(nginxes.usual) : null,
    hasCeiling: nginxes.usual !== undefined,
    ingredients: (cell) => {
      const system = systemOf(experiment, cell)
      const nginx = nginxOf(system, nginxes)?.describe()
      return {
        files: [...(system.app === undefined ? [] : [system.app.package]), ...SHARED],
        facts: [nginx, process.version, ...SETTINGS.map((name) => `${name}=${process.env[name] ?? ''}`)],
      }
    },
    start: (own, { pinned }) => {
      const kept = pinned ? cores : null
      const entrants = own.map((cell): Entrant => {
        const system = systemOf(experiment, cell)
        const cpus = kept?.servers.slice(0, cell.cores.given).join(',')
        return { cell, system: equip(system, nginxes), nginx: nginxOf(system, nginxes), cpus }
      })
      return startSystems(entrants, kept)
    },
    prove: ({ target }, contract) => proveHere(target, contract, options.signal),
    close: async () => {},
  }
}

/** What all apps share, NGINX and the suite. */
const SHARED = [
  'bench/src/environments/native',
  'packages/shared',
  'packages/conformance/src',
  'nginx',
  'pnpm-lock.yaml',
]

/** Variables that apps and their runtimes read, and that the launcher passes on. */
const SETTINGS = ['TRUST_PROXY', 'SHUTDOWN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS', 'NODE_OPTIONS', 'BUN_OPTIONS']

/** The contract's suite in this process. @throws {Error} if it cannot run */
export async function proveHere(target: Target, contract: Contract, signal: AbortSignal): Promise<Proof> {
  return proofOf(await checkConformance({ target, ...contract, signal }))
}
