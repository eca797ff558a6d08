import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AppSource } from '@startgrid/eject/eject-tree.ts'
import { OPTIONS } from '@startgrid/eject/options.ts'
import { listApps, readSource } from '@startgrid/eject/source.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { buildProgram } from 'startgrid/program.ts'
import { writeBundle } from './bundle.ts'

/** Writes dist/: the command in one file, and all apps as data. npm runs this before it packs. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST)
const sources: Record<string, AppSource> = {}
for (const app of APPS) sources[app.name] = await readSource(app, new AbortController().signal)
const options = OPTIONS.map(({ name, title }) => ({ name, title }))
writeBundle(join(DIST, 'projects.json.br'), { apps: listApps(), options, sources })
await buildProgram({ create: join(ROOT, 'src/create.ts') }, { directory: DIST, target: 'node20.12' })
