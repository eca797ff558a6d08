import { execFile } from 'node:child_process'
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { buildProgram } from './program.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PACKAGE = join(ROOT, 'packages/startgrid')

interface Manifest {
  version: string
  engines: { node: string }
  scripts?: unknown
  exports?: unknown
  devDependencies?: unknown
}

/** Writes the command, and the programs that it starts, into a directory. */
export async function writeProgram(directory: string): Promise<void> {
  const { version, engines } = readManifest()
  await buildProgram(
    {
      startgrid: `${ROOT}bench/src/cli/startgrid.ts`,
      'guard-process': `${ROOT}packages/machine/src/guard-process.ts`,
      child: `${ROOT}packages/loadgen/src/engine/child.ts`,
      'server-process': `${ROOT}packages/loadgen/src/instrument/server-process.ts`,
    },
    { directory, target: engines.node.replace('>=', 'node') },
  )
  // Reports hold them; they are read from beside the code.
  for (const file of globSync(`${ROOT}bench/src/report/html/*.{css,js}`))
    copyFileSync(file, join(directory, basename(file)))
  const versions = readVersions()
  writeFileSync(
    join(directory, 'versions.json'),
    JSON.stringify({ ...versions, startgrid: `${version} (${versions.startgrid})`, packages: {} }),
  )
}

/** The package as `npm pack` makes it, but nothing is written into this repository: several may pack at once. */
export async function readTarball(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-pack-'))
  try {
    const { scripts: _scripts, exports: _exports, devDependencies: _tools, ...manifest } = readManifest()
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
    await writeProgram(join(directory, 'dist'))
    // An npm that packs another package has told its scripts where that goes.
    await promisify(execFile)('npm', ['pack', `--pack-destination=${directory}`], { cwd: directory })
    return readFileSync(join(directory, `startgrid-${manifest.version}.tgz`))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest
}
