/**
 * Bundles each role for each engine into dist/<engine>/, and copies the page's files beside the bundles: `node build.ts`.
 * For an image, `node build.ts DIRECTORY` also writes the configuration of each role for the image's NGINX.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig, Settings } from '#shared/config.ts'
import { ASSETS_DIR } from '#shared/page/server.js'
import { DIST, filesOf, ROLES, renderConfig } from './src/render.ts'

const ROOT = import.meta.dirname

const staging = join(ROOT, '.cache', String(process.pid))
try {
  await cp(fileURLToPath(ASSETS_DIR), join(staging, 'assets'), { recursive: true })
  for (const engine of await readdir(join(ROOT, 'engines'))) {
    const { bundle } = await import(`./engines/${engine}/bundle.ts`)
    await mkdir(join(staging, engine))
    for (const role of ROLES) {
      const code: string = await bundle(join(ROOT, `src/${role}.ts`))
      await writeFile(join(staging, engine, `${role}.js`), code)
    }
  }
  // A running NGINX has read its module already. One that starts now finds only old or only new files.
  await rm(DIST, { recursive: true, force: true })
  await rename(staging, DIST)
} finally {
  await rm(staging, { recursive: true, force: true })
}

const [directory] = process.argv.slice(2)
if (directory !== undefined) configureImage(directory)

/** The settings are those of the build, because NGINX cannot read its environment. */
function configureImage(directory: string): void {
  mkdirSync(directory, { recursive: true })
  // That of docker/Dockerfile: its module, and the engine that njs recommends.
  const njs = { version: '', engine: 'qjs', module: 'modules/ngx_http_js_module.so' } as const
  const nginx = { njs, keepaliveMinTimeout: true }
  const main = { dir: '/tmp', workers: 1, contained: true }
  const config = readConfig(Settings)
  // For measurements: natively, too, the benchmark logs no request and refuses no page (NEVER_SHED in packages/grid).
  const quiet = { ...config, LOG_LEVEL: 'warn', MAX_QUEUE_WAIT_MS: 60_000 } as const
  for (const role of ROLES)
    for (const [name, settings] of [
      [role, config],
      [`${role}-quiet`, quiet],
    ] as const) {
      const text = renderConfig({ nginx, config: settings, ...filesOf(role, 'qjs') }, main)
      writeFileSync(join(directory, `${name}.conf`), text)
    }
}
