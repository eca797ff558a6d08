import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AppSource } from '@startgrid/eject/eject-tree.ts'
import { OPTIONS } from '@startgrid/eject/options.ts'
import { listApps, readSource } from '@startgrid/eject/source.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { build } from 'esbuild'
import { writeBundle } from './bundle.ts'

/** Writes dist/: the command in one file, and all apps as data. npm runs this before it packs. */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

async function main(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true })
  mkdirSync(DIST)
  const sources: Record<string, AppSource> = {}
  for (const app of APPS) sources[app.name] = await readSource(app, new AbortController().signal)
  const options = OPTIONS.map(({ name, title }) => ({ name, title }))
  writeBundle(join(DIST, 'projects.json.br'), { apps: listApps(), options, sources })
  const { metafile } = await build({
    entryPoints: [join(ROOT, 'src/create.ts')],
    outfile: join(DIST, 'create.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.12',
    minifySyntax: true,
    metafile: true,
    logLevel: 'warning',
    // Some packages are CommonJS and require modules of Node.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
    },
  })
  copyFileSync(join(ROOT, '../../LICENSE'), join(DIST, 'LICENSE'))
  writeFileSync(join(DIST, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)))
}

/** The licences of the packages whose code is in create.js: they ask for a copy. */
function licencesOf(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  )
  const texts = [...folders].sort().map((folder) => {
    const directory = existsSync(folder) ? folder : join(ROOT, folder)
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license: string
    }
    const file = readdirSync(directory).find((path) => /^licen[cs]e/i.test(path))
    const text = file === undefined ? '' : readFileSync(join(directory, file), 'utf8')
    return `${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

await main()
