import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

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
    // Names of shared files are hashes of paths, which are relative to this.
    absWorkingDir: ROOT,
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
  copyFileSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'))
  writeFileSync(join(directory, 'LICENSES.txt'), licencesOf(Object.keys(metafile.inputs)))
}

/** The licences of the packages whose code is in it: they ask for a copy. */
function licencesOf(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  )
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
    ) as {
      name: string
      version: string
      license: string
    }
    const file = readdirSync(join(ROOT, folder)).find((path) => /^licen[cs]e/i.test(path))
    const text = file === undefined ? '' : readFileSync(join(ROOT, folder, file), 'utf8')
    return `${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
