import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

interface BuildOptions {
  directory: string
  /** The least Node, as esbuild writes it: `node20.12`. */
  target: string
}

/**
 * Writes programs for npm: each in one file with its libraries, what several share in files beside them, and all licences.
 * @param entries sources by name: `create` becomes `create.js`
 */
export async function buildProgram(
  entries: Readonly<Record<string, string>>,
  { directory, target }: BuildOptions,
): Promise<void> {
  const { metafile } = await build({
    entryPoints: entries,
    outdir: directory,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target,
    minify: true,
    keepNames: true, // of errors
    metafile: true,
    logLevel: 'warning',
    // Some packages are CommonJS and require modules of Node.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
    },
  })
  copyFileSync(fileURLToPath(new URL('../../../LICENSE', import.meta.url)), join(directory, 'LICENSE'))
  writeFileSync(join(directory, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)))
}

/** The licences of the packages whose code is in it: they ask for a copy. */
function licencesOf(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  )
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string
      version: string
      license: string
    }
    const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path))
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
    return `${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
