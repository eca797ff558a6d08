import { plural } from '@startgrid/cli/text.ts'
import { runtimeOf } from '@startgrid/grid/apps.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { fitToMachine } from '../../experiment/cells.ts'
import type { Experiment, System } from '../../result/experiment.ts'
import type { Cell, NginxVersion } from '../../result/result.ts'
import { type Opened, type OpenOptions, orAborted, systemOf } from '../servers.ts'
import { type Entrant, startSystems } from './systems.ts'

/** Servers, NGINX and generator are processes of this machine. Cells are given the cores that it has for them. */
export async function openNative(
  experiment: Experiment,
  cells: readonly Cell[],
  options: OpenOptions,
): Promise<Opened> {
  const cores = chooseCores(Math.max(1, ...cells.map((cell) => cell.cores.wanted)), options.warn)
  fitToMachine(cells, cores?.servers.length ?? null)
  const nginx = await findUsualNginx(experiment, cells, options)
  return {
    cores,
    nginx: nginx === undefined ? null : versionOf(nginx),
    start: (own, { pinned = true }) => {
      const kept = pinned ? cores : null
      const entrants = own.map((cell): Entrant => {
        const cpus = kept?.servers.slice(0, cell.cores.given).join(',')
        const system = systemOf(experiment, cell)
        return { cell, system, nginx: needsNginx(system) ? nginx : undefined, cpus }
      })
      return startSystems(entrants, kept)
    },
  }
}

/**
 * Finds the NGINX that systems run in or behind: in front of apps, alone, and with njs in it. Each cell is told why it is skipped.
 * @returns undefined if there is none or no cell needs one, and after an abort
 */
async function findUsualNginx(
  experiment: Experiment,
  cells: readonly Cell[],
  { signal, warn, progress }: OpenOptions,
): Promise<Nginx | undefined> {
  const needing = cells.filter((cell) => needsNginx(systemOf(experiment, cell)))
  if (needing.length === 0) return undefined
  const found = await orAborted(findNginx(), signal)
  if (found === undefined) return undefined
  const nginx = found.kind === 'none' ? undefined : found
  if (found.kind === 'none')
    warn({
      kind: 'tools',
      text: `Skipped without NGINX: ${plural(needing.length, 'cell')} behind it or in it. ${found.describe()}`,
    })
  else progress.say(`Using ${found.describe()}.`)
  for (const cell of needing) cell.skipped ??= whyImpossible(systemOf(experiment, cell), nginx)
  const lacking = needing.filter(({ skipped }) => skipped === NO_NJS).length
  if (nginx !== undefined && lacking > 0)
    warn({
      kind: 'tools',
      text: `Skipped without njs: ${plural(lacking, 'cell')}. ${nginx.describe()} cannot run it: install its njs module.`,
    })
  return nginx
}

const NO_NJS = 'NGINX has no njs module'

/** A clause; null if it can be started as far as is known. */
export function whyImpossible(system: System, nginx: Nginx | undefined): string | null {
  if (!needsNginx(system)) return null
  if (nginx === undefined) return 'there is no NGINX'
  if (!isInNginx(system)) return null
  if (system.app?.env?.NJS_ENGINE === 'qjs' && nginx.njs?.engine !== 'qjs')
    return 'njs has no QuickJS here: it needs a newer NGINX on the PATH, such as that of the image nginx:1.30'
  return nginx.njs === undefined ? NO_NJS : null
}

/** Whether NGINX itself runs the app: it needs one that can, and which engine runs the JavaScript counts. */
function isInNginx({ app }: System): boolean {
  return app !== undefined && runtimeOf(app.package) === 'nginx'
}

export function needsNginx(system: System): boolean {
  return system.nginx !== undefined || isInNginx(system)
}

function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}
