import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import type { Cell } from '../model/cell.ts'
import type { Experiment, System } from '../model/experiment.ts'
import type { NginxVersion } from '../model/provenance.ts'
import { type EnvironmentOptions, isInNginx, orAborted, systemOf } from './environment.ts'

/**
 * Finds the NGINX that systems run in or behind: in front of apps, alone, and with njs in it. Each cell is told its version, or why it is skipped.
 * @returns undefined if there is none or no cell needs one, and after an abort
 */
export async function findUsualNginx(
  experiment: Experiment,
  cells: readonly Cell[],
  { download, signal, warn, progress }: EnvironmentOptions,
): Promise<Nginx | undefined> {
  const needing = cells.filter((cell) => needsNginx(systemOf(experiment, cell)))
  if (needing.length === 0) return undefined
  const found = await orAborted(findNginx({ download }), signal)
  if (found === undefined) return undefined
  const nginx = found.kind === 'none' ? undefined : found
  if (found.kind === 'none') warn({ kind: 'no-nginx', cells: needing.length, help: found.describe() })
  else progress.say(`Using ${found.describe()}.`)
  assignNginx(experiment, needing, nginx)
  const lacking = needing.filter(({ skipped }) => skipped === NO_NJS).length
  if (nginx !== undefined && lacking > 0) warn({ kind: 'no-njs', cells: lacking, nginx: nginx.describe() })
  return nginx
}

/** Notes on each cell which NGINX it runs in, and skips those that this one cannot run. */
export function assignNginx(experiment: Experiment, cells: readonly Cell[], nginx: Nginx | undefined): void {
  for (const cell of cells) {
    const system = systemOf(experiment, cell)
    cell.nginx = nginx === undefined || !needsNginx(system) ? null : versionOf(nginx)
    cell.skipped = whyImpossible(system, nginx)
  }
}

const NO_NJS = 'NGINX has no njs module'

/** A clause; null if it can be started as far as is known. */
function whyImpossible(system: System, nginx: Nginx | undefined): string | null {
  if (!needsNginx(system)) return null
  if (nginx === undefined) return 'there is no NGINX'
  if (system.nginx?.front === 'nginx-tls' && nginx.http2 === undefined)
    return 'this NGINX was built without TLS or HTTP/2'
  if (!isInNginx(system)) return null
  if (system.app?.env?.NJS_ENGINE === 'qjs' && nginx.njs?.engine !== 'qjs')
    return 'njs has no QuickJS here: it needs a newer NGINX on the PATH, such as that of the image nginx:1.30'
  return nginx.njs === undefined ? NO_NJS : null
}

export function needsNginx(system: System): boolean {
  return system.nginx !== undefined || isInNginx(system)
}

export function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}
