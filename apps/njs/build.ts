/** Bundles each role for each engine into dist/<engine>/, and puts the page's files beside them: `node build.ts`. */
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
  // A running NGINX has read its module; whoever starts meanwhile finds all of the old or all of the new.
  await rm(DIST, { recursive: true, force: true })
  await rename(staging, DIST)
} finally {
  await rm(staging, { recursive: true, force: true })
}
