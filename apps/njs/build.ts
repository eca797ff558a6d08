/** Bundles each role for each engine into dist/<engine>/, and copies the page's files beside the bundles: `node build.ts`. */
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ASSETS_DIR } from '#shared/page/server.js'
import { DIST, ROLES } from './runner/render.ts'

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
