import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LaunchConfig, readLaunchConfig } from '#shared/launch/config.ts'
import { DIST, ROLES, type Role, renderConfig } from './nginx-config.ts'

/**
 * `node image.ts DIRECTORY`, run when the image is built: writes the configuration of each role for the official image's NGINX, from the
 * same files as natively. The settings are those of the build, because NGINX cannot read its environment.
 */

/** The NGINX of docker/Dockerfile: its module, and the engine that njs recommends. */
const NGINX = {
  njs: { version: '', engine: 'qjs', module: 'modules/ngx_http_js_module.so' },
  keepaliveMinTimeout: true,
} as const

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('Say where to write: node image.ts DIRECTORY.')
mkdirSync(directory, { recursive: true })
const config = readLaunchConfig(process.env)
for (const role of ROLES) {
  writeFileSync(join(directory, `${role}.conf`), render(role, config))
  // For measurements: natively, too, the benchmark logs no request and refuses no page (NEVER_SHED in packages/grid).
  writeFileSync(
    join(directory, `${role}-quiet.conf`),
    render(role, { ...config, logLevel: 'warn', maxQueueWaitMs: 60_000 }),
  )
}

function render(role: Role, config: LaunchConfig): string {
  const settings = {
    role,
    module: join(DIST, NGINX.njs.engine, `${role}.js`),
    nginx: NGINX,
    address: { port: config.port },
    config,
    trustProxy: process.env.TRUST_PROXY ?? '',
  }
  return renderConfig(settings, false)({ dir: '/tmp', workers: 1, contained: true })
}
