import { runtimeOf } from '@startgrid/grid/apps.ts'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import type { Experiment, System } from '../../model/experiment.ts'
import type { Cell, NginxVersion } from '../../model/result.ts'
import { versionOf } from '../proxy.ts'

/** The NGINXes of this machine that the systems of a study run in. */
interface Nginxes {
  /** In front of apps, alone, and with njs in it. */
  usual: Nginx | undefined
  /** With QuickJS: the usual one if it has that, else another. */
  quickjs: Nginx | undefined
}

/** Finds what the study needs. Beside the usual one only what is here already is looked at: nothing is downloaded for it. */
export async function findNginxes(study: Experiment, { download }: { download: boolean }): Promise<Nginxes> {
  const found = await findNginx({ download })
  const usual = found.kind === 'none' ? undefined : found
  const needsOther = Object.values(study.systems).some(isOnQuickJs) && usual?.njs?.engine !== 'qjs'
  return { usual, quickjs: needsOther ? await findQuickJs() : usual }
}

/** Debian's NGINX has only njs's old engine; the official image has both. */
async function findQuickJs(): Promise<Nginx | undefined> {
  for (const choice of ['docker', 'download']) {
    const found = await findNginx({ choice, download: false })
    if (found.kind !== 'none' && found.njs?.engine === 'qjs') return found
  }
  return undefined
}

/** The study with its njs apps told which NGINX to run in, where that is not the one that they would find. */
export function equipStudy(study: Experiment, { usual, quickjs }: Nginxes): Experiment {
  if (quickjs === undefined || quickjs === usual) return study
  const equip = (system: System): System => {
    if (system.app === undefined || !isOnQuickJs(system)) return system
    return { ...system, app: { ...system.app, env: { ...system.app.env, STARTGRID_NGINX: quickjs.kind } } }
  }
  const systems = Object.entries(study.systems).map(([name, system]) => [name, equip(system)])
  return { ...study, systems: Object.fromEntries(systems) }
}

/** Notes on each cell which NGINX it runs in, and skips those that this machine lacks the tools for. */
export function assignNginxes(study: Experiment, cells: readonly Cell[], nginxes: Nginxes): void {
  for (const cell of cells) {
    const system = study.systems[cell.app]
    if (system === undefined) continue
    const nginx = nginxOf(system, nginxes)
    cell.nginx = nginx === undefined ? null : versionOf(nginx)
    cell.skipped = whyImpossible(system, nginxes)
  }
}

function nginxOf(system: System, { usual, quickjs }: Nginxes): Nginx | undefined {
  if (isOnQuickJs(system)) return quickjs
  return system.nginx !== undefined || isInNginx(system) ? usual : undefined
}

/** A clause; null if it can be started as far as is known. */
function whyImpossible(system: System, nginxes: Nginxes): string | null {
  if (system.nginx === undefined && !isInNginx(system)) return null
  if (nginxes.usual === undefined) return 'there is no NGINX'
  if (!isInNginx(system)) return null
  if (isOnQuickJs(system))
    return nginxes.quickjs?.njs?.engine === 'qjs'
      ? null
      : 'njs has no QuickJS here, neither in the installed NGINX nor in an image nginx:1.30'
  return nginxes.usual.njs === undefined ? 'NGINX has no njs module' : null
}

export function isInNginx({ app }: System): boolean {
  return app !== undefined && runtimeOf(app.package) === 'nginx'
}

function isOnQuickJs(system: System): boolean {
  return isInNginx(system) && system.app?.env?.NJS_ENGINE === 'qjs'
}

/** `NGINX 1.30.2 (docker) with njs 1.0.2` */
export function nameNginx({ kind, version, njs }: NginxVersion): string {
  return `NGINX ${version} (${kind})${njs === null ? '' : ` with njs ${njs.version}`}`
}
