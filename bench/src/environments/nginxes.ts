import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import type { Cell } from '../model/cell.ts'
import type { Experiment, System } from '../model/experiment.ts'
import type { NginxVersion } from '../model/provenance.ts'
import { type EnvironmentOptions, isInNginx, orAborted, systemOf } from './environment.ts'

/** The NGINXes of this machine that systems run in. */
export interface Nginxes {
  /** In front of apps, alone, and with njs in it. */
  usual: Nginx | undefined
  /** With QuickJS: the usual one if it has that, else another. */
  quickjs: Nginx | undefined
}

/**
 * Finds what the cells need. Each is told which NGINX it runs in, or why it is skipped. Where no cell needs one, and beside the usual one, only what is
 * here already is looked at: nothing is downloaded for that.
 * @returns no NGINX after an abort
 */
export async function findNginxes(
  experiment: Experiment,
  cells: readonly Cell[],
  { download, signal, warn, progress }: EnvironmentOptions,
): Promise<Nginxes> {
  const needing = cells.filter((cell) => needsNginx(systemOf(experiment, cell)))
  const isNeeded = needing.length > 0
  const found = await orAborted(findNginx({ download: download && isNeeded }), signal)
  if (found === undefined) return { usual: undefined, quickjs: undefined }
  const usual = found.kind === 'none' ? undefined : found
  if (!isNeeded) return { usual, quickjs: usual }
  if (found.kind === 'none') warn({ kind: 'no-nginx', cells: needing.length, help: found.describe() })
  else progress.say(`Using ${found.describe()}.`)
  const isOther =
    needing.some((cell) => isOnQuickJs(systemOf(experiment, cell))) && usual?.njs?.engine !== 'qjs'
  const nginxes = { usual, quickjs: isOther ? await findQuickJs() : usual }
  assignNginxes(experiment, needing, nginxes)
  const lacking = needing.filter(({ skipped }) => skipped === NO_NJS).length
  if (usual !== undefined && lacking > 0) warn({ kind: 'no-njs', cells: lacking, nginx: usual.describe() })
  return nginxes
}

/** Debian's NGINX has only njs's old engine; the official image has both. */
async function findQuickJs(): Promise<Nginx | undefined> {
  for (const choice of ['docker', 'download']) {
    const found = await findNginx({ choice, download: false })
    if (found.kind !== 'none' && found.njs?.engine === 'qjs') return found
  }
  return undefined
}

/** Notes on each cell which NGINX it runs in, and skips those that this machine has none for. */
export function assignNginxes(experiment: Experiment, cells: readonly Cell[], nginxes: Nginxes): void {
  for (const cell of cells) {
    const system = systemOf(experiment, cell)
    const nginx = nginxOf(system, nginxes)
    cell.nginx = nginx === undefined ? null : versionOf(nginx)
    cell.skipped = whyImpossible(system, nginxes)
  }
}

/** Undefined if it needs none, or there is none. */
export function nginxOf(system: System, { usual, quickjs }: Nginxes): Nginx | undefined {
  if (isOnQuickJs(system)) return quickjs
  return needsNginx(system) ? usual : undefined
}

/** An njs app is told which NGINX to run in, where that is not the one that it would find. */
export function equip(system: System, nginxes: Nginxes): System {
  const { app } = system
  const nginx = nginxOf(system, nginxes)
  if (app === undefined || nginx === undefined || nginx === nginxes.usual) return system
  return { ...system, app: { ...app, env: { ...app.env, STARTGRID_NGINX: nginx.kind } } }
}

const NO_NJS = 'NGINX has no njs module'

/** A clause; null if it can be started as far as is known. */
function whyImpossible(system: System, { usual, quickjs }: Nginxes): string | null {
  if (!needsNginx(system)) return null
  if (usual === undefined) return 'there is no NGINX'
  if (system.nginx?.front === 'nginx-tls' && 'missing' in usual.tls)
    return `this NGINX was built without ${usual.tls.missing}`
  if (!isInNginx(system)) return null
  if (isOnQuickJs(system))
    return quickjs?.njs?.engine === 'qjs'
      ? null
      : 'njs has no QuickJS here, neither in the installed NGINX nor in an image nginx:1.30'
  return usual.njs === undefined ? NO_NJS : null
}

function needsNginx(system: System): boolean {
  return system.nginx !== undefined || isInNginx(system)
}

function isOnQuickJs(system: System): boolean {
  return isInNginx(system) && system.app?.env?.NJS_ENGINE === 'qjs'
}

export function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}
