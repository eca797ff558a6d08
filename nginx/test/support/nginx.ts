import { findNginx } from '../../src/find/find.ts'
import type { Front } from '../../src/render/front.ts'
import { type Instance, startNginx } from '../../src/run/instance.ts'

/** The NGINX to test with, or why there is none: it is not downloaded for that. */

const found = await findNginx({ download: false })

export const nginx = found.kind === 'none' ? undefined : found
/** For `skip`: false, or the reason and the command that helps. */
export const skip = found.kind === 'none' && found.describe()

/** Any free port. */
export const ANY = { host: '127.0.0.1', port: 0 }

/** Starts the NGINX to test with. */
export async function start(options: Parameters<typeof startNginx>[1]): Promise<Instance> {
  if (nginx === undefined) throw new Error('skipped')
  return startNginx(nginx, options)
}

/** The front of an app, by default on any free port. */
export function frontOf(upstream: Front['upstream'], more: Partial<Front> = {}): Front {
  return { name: 'app', topology: 'nginx', listen: ANY, upstream, ...more }
}
