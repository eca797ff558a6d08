import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { isInNginx } from '../experiment/cells.ts'
import type { Cell, NginxVersion } from '../model/result.ts'
import type { EnvironmentOptions } from './environment.ts'

/**
 * Finds an NGINX if a cell needs one. Cells that then cannot be measured are marked as skipped.
 * @returns undefined if none is needed or found, and after an abort
 */
export async function findProxy(
  cells: readonly Cell[],
  { download, signal, warn, progress }: EnvironmentOptions,
): Promise<Nginx | undefined> {
  const inNginx = cells.filter(isInNginx)
  const needNginx = cells.filter((cell) => cell.topology !== 'direct' || isInNginx(cell))
  if (needNginx.length === 0) return undefined
  const found = await orAborted(findNginx({ download }), signal)
  if (found === undefined) return undefined
  if (found.kind === 'none') {
    skip(needNginx, 'there is no NGINX')
    warn({ kind: 'no-nginx', cells: needNginx.length, help: found.describe() })
    return undefined
  }
  progress.say(`Using ${found.describe()}.`)
  if (found.njs === undefined && inNginx.length > 0) {
    skip(inNginx, 'NGINX has no njs module')
    warn({ kind: 'no-njs', cells: inNginx.length, nginx: found.describe() })
  }
  return found
}

export function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}

function skip(cells: readonly Cell[], reason: string): void {
  for (const cell of cells) cell.skipped ??= reason
}

/** A download can take minutes. An interrupt ends the wait at once. */
async function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return undefined
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
