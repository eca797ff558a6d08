import { chooseCores } from '@startgrid/machine/cores.ts'
import { fitToMachine } from '../../experiment/cells.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import { type Environment, type EnvironmentOptions, systemOf } from '../environment.ts'
import { findUsualNginx, needsNginx, versionOf } from '../usual-nginx.ts'
import { type Entrant, startSystems } from './systems.ts'

/** Servers, NGINX and generator are processes of this machine. Cells are given the cores that it has for them. */
export async function openNative(
  experiment: Experiment,
  cells: readonly Cell[],
  options: EnvironmentOptions,
): Promise<Environment> {
  const cores = chooseCores(Math.max(1, ...cells.map((cell) => cell.cores.wanted)), options.warn)
  fitToMachine(cells, cores?.servers.length ?? null)
  const nginx = await findUsualNginx(experiment, cells, options)
  for (const cell of cells) cell.skipped ??= systemOf(experiment, cell).lacks?.(options.download) ?? null
  return {
    cores,
    generators: cores?.generators ?? [undefined],
    nginx: nginx === undefined ? null : versionOf(nginx),
    start: (own, { pinned }) => {
      const kept = pinned ? cores : null
      const entrants = own.map((cell): Entrant => {
        const cpus = kept?.servers.slice(0, cell.cores.given).join(',')
        const system = systemOf(experiment, cell)
        return { cell, system, nginx: needsNginx(system) ? nginx : undefined, cpus }
      })
      return startSystems(entrants, kept)
    },
    close: async () => {},
  }
}
