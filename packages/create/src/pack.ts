import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { readSource } from '@startgrid/eject/source.ts'
import { buildProgram } from 'startgrid/program.ts'

/** Writes dist/: the command in one file, and what projects are made of. npm runs this before it packs. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST)
// Most files of the apps are alike: the window must hold more than one app.
const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
writeFileSync(join(DIST, 'source.json.br'), brotliCompressSync(JSON.stringify(readSource()), { params }))
await buildProgram({ create: join(ROOT, 'src/create.ts') }, { directory: DIST, target: 'node20.12' })
