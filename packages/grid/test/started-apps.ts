import { fileURLToPath } from 'node:url'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { ASSETS_DIR } from '@startgrid/shared/page/server.js'
import type { Target } from '@startgrid/wire/target.ts'
import type { App } from '../src/apps.ts'
import { launch, NEVER_SHED } from '../src/launcher.ts'

const nginx = await findNginx()

/** Why this cannot be tried on this machine, or false. */
export function whyNot(what: 'njs' | 'direct' | 'nginx' | 'nginx-tls'): string | false {
  if (what === 'direct') return false
  if (nginx.kind === 'none') return nginx.describe()
  if (what === 'njs' && nginx.njs === undefined)
    return `${nginx.describe()} has no njs: sudo apt-get install libnginx-mod-http-js`
  return false
}

export interface StartedApps {
  /** Where each is reached, in their order. */
  readonly targets: readonly Target[]
  stop(): Promise<void>
}

/**
 * Starts apps, and one NGINX in front of all unless they are reached directly.
 * @throws {Error} if an app or NGINX does not start
 */
export async function startApps(
  apps: readonly App[],
  topology: 'direct' | 'nginx' | 'nginx-tls',
): Promise<StartedApps> {
  const launches = await Promise.all(apps.map((app) => launch(app, { env: NEVER_SHED })))
  const instance =
    topology === 'direct' || nginx.kind === 'none'
      ? undefined
      : await startNginx(nginx, {
          fronts: apps.map(({ name, role }, index) => ({
            name: name.replace('/', '-'),
            topology,
            listen: { host: '127.0.0.1', port: 0 },
            upstream: launches[index]?.target ?? { host: '127.0.0.1', port: 0 },
            ...(role === 'ssr' && { serveAssets: fileURLToPath(ASSETS_DIR).replace(/\/$/, '') }),
          })),
        })
  return {
    targets: instance?.addresses ?? launches.map(({ target }) => target),
    async stop() {
      await instance?.stop()
      await Promise.all(launches.map((launched) => launched.stop()))
    },
  }
}
