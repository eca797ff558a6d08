/** Bundles each role for each engine into dist/<engine>/, and copies the page's files beside the bundles: `node build.ts`. */
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ASSETS_DIR } from '#shared/page/server.js'
import { bundleRole, ENGINES } from './engines/bundle.ts'
import { ROLES } from './runner/nginx-config.ts'

const ROOT = import.meta.dirname
const DIST = join(ROOT, 'dist')

const staging = join(ROOT, '.cache', String(process.pid))
try {
  await cp(fileURLToPath(ASSETS_DIR), join(staging, 'assets'), { recursive: true })
  for (const engine of ENGINES) {
    await mkdir(join(staging, engine))
    for (const role of ROLES) {
      await writeFile(join(staging, engine, `${role}.js`), await bundleRole(role, engine))
    }
  }
  // A running NGINX has read its module already. One that starts now finds only old or only new files.
  await rm(DIST, { recursive: true, force: true })
  await rename(staging, DIST)
} finally {
  await rm(staging, { recursive: true, force: true })
}
