import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import type { Progress } from './progress.ts'
import type { Measured } from './summary.ts'

/**
 * Finds an NGINX if a cell needs one. Cells that then cannot be measured are marked as skipped.
 * @param warn told in a sentence what is skipped and which command helps
 */
export async function findProxy(
  measured: readonly Measured[],
  { download, signal }: { download: boolean; signal: AbortSignal },
  warn: (text: string) => void,
  progress: Progress,
): Promise<Nginx | undefined> {
  const inNginx = measured.filter(({ cell }) => cell.app.framework === 'njs')
  const needNginx = measured.filter((one) => one.cell.topology !== 'direct' || inNginx.includes(one))
  if (needNginx.length === 0) return undefined
  const found = await orAborted(findNginx({ download }), signal)
  if (found === undefined) return undefined
  if (found.kind === 'none') {
    warn(`The cells behind NGINX and the njs apps are skipped. ${found.describe()}`)
    skip(needNginx, 'there is no NGINX')
    return undefined
  }
  progress.say(`Using ${found.describe()}.`)
  if (found.njs === undefined && inNginx.length > 0) {
    warn(`The njs apps are skipped: ${found.describe()} cannot run them. ${helpForNjs()}`)
    skip(inNginx, 'NGINX has no njs module')
  }
  return found
}

function skip(measured: readonly Measured[], reason: string): void {
  for (const one of measured) {
    one.skipped = true
    one.voidedBecause = reason
  }
}

function helpForNjs(): string {
  return 'Its module is a package of its own: libnginx-mod-http-js (Debian) or nginx-mod-js (Fedora).'
}

/** A download goes on for minutes; whoever interrupts it waits no longer. */
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
