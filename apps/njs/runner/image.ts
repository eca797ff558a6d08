/**
 * `node image.ts DIRECTORY`, when the image is built: writes the configuration of each role for the image's NGINX. The settings are those of
 * the build, because NGINX cannot read its environment.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig, Settings } from '#shared/config.ts'
import { filesOf, ROLES, renderConfig } from './render.ts'

/** The NGINX of docker/Dockerfile: its module, and the engine that njs recommends. */
const nginx = {
  njs: { version: '', engine: 'qjs', module: 'modules/ngx_http_js_module.so' },
  keepaliveMinTimeout: true,
} as const

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('Say where to write: node image.ts DIRECTORY.')
mkdirSync(directory, { recursive: true })
const config = readConfig(Settings)
// For measurements: natively, too, the benchmark logs no request and refuses no page (NEVER_SHED in packages/grid).
const quiet = { ...config, LOG_LEVEL: 'warn', MAX_QUEUE_WAIT_MS: 60_000 } as const
for (const role of ROLES) {
  for (const [name, settings] of [
    [role, config],
    [`${role}-quiet`, quiet],
  ] as const) {
    const text = renderConfig(
      { nginx, config: settings, ...filesOf(role, 'qjs') },
      { dir: '/tmp', workers: 1, contained: true },
    )
    writeFileSync(join(directory, `${name}.conf`), text)
  }
}
