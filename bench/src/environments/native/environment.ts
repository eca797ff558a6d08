import { checkConformance } from '@startgrid/conformance'
import { chooseAllCores } from '@startgrid/machine/cores.ts'
import { fitToMachine } from '../../experiment/cells.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment, System } from '../../model/experiment.ts'
import { proofOf } from '../conformance.ts'
import { type Environment, type EnvironmentOptions, systemOf } from '../environment.ts'
import { findUsualNginx, needsNginx, versionOf } from '../usual-nginx.ts'
import { type Entrant, startSystems } from './systems.ts'

/** Servers, NGINX and generator are processes of this machine. Cells are given the cores that it has for them. */
export async function openNative(
  experiment: Experiment,
  cells: readonly Cell[],
  options: EnvironmentOptions,
): Promise<Environment> {
  const cores = chooseAllCores(Math.max(1, ...cells.map((cell) => cell.cores.wanted)), options.warn)
  fitToMachine(cells, cores?.servers.length ?? null)
  const nginx = await findUsualNginx(experiment, cells, options)
  for (const cell of cells) cell.skipped ??= systemOf(experiment, cell).lacks?.(options.download) ?? null
  const nginxOf = (system: System) => (needsNginx(system) ? nginx : undefined)
  return {
    cores,
    generators: cores?.generators ?? [undefined],
    nginx: nginx === undefined ? null : versionOf(nginx),
    ingredients: (cell) => {
      const system = systemOf(experiment, cell)
      const { package: own, env: { APP = undefined } = {} } = system.app ?? {}
      return {
        files: [
          ...(own === undefined ? [] : [own]),
          ...(APP === undefined ? [] : [`apps/${APP}`]),
          ...SHARED,
        ],
        facts: [
          nginxOf(system)?.describe(),
          process.version,
          ...SETTINGS.map((name) => `${name}=${process.env[name] ?? ''}`),
        ],
      }
    },
    start: (own, { pinned }) => {
      const kept = pinned ? cores : null
      const entrants = own.map((cell): Entrant => {
        const cpus = kept?.servers.slice(0, cell.cores.given).join(',')
        const system = systemOf(experiment, cell)
        return { cell, system, nginx: nginxOf(system), cpus }
      })
      return startSystems(entrants, kept)
    },
    prove: async ({ target }, contract) =>
      proofOf(await checkConformance({ target, ...contract, signal: options.signal })),
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
