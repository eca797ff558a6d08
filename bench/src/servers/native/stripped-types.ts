import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Node strips types with WebAssembly, which `--jitless` switches off
 * (https://nodejs.org/api/typescript.html): there the sources come from here, stripped before.
 */

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** Serves the sources in `SOURCES`, which stands before it. */
const HOOK = `
import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    const source = SOURCES[url]
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})
`

const written = new Map<string, string>()

/**
 * A module for `node --import` that hands out the sources of a package, and of what the apps share, without their types. The file
 * goes with this process.
 * @param directory of the package, in the repository
 */
export function strippedTypes(directory: string): string {
  const known = written.get(directory)
  if (known !== undefined) return known
  const files = [`${directory}/src`, 'packages/shared/src'].flatMap((path) => sourcesIn(join(ROOT, path)))
  const sources = files.map((path) => [pathToFileURL(path).href, strip(readFileSync(path, 'utf8'))])
  const place = mkdtempSync(join(tmpdir(), 'startgrid-stripped-'))
  process.once('exit', () => rmSync(place, { recursive: true, force: true }))
  const hook = join(place, 'stripped-types.mjs')
  writeFileSync(hook, `const SOURCES = ${JSON.stringify(Object.fromEntries(sources))}\n${HOOK}`)
  written.set(directory, hook)
  return hook
}

/** The function is marked as experimental, which the reader of a measurement does not need. */
function strip(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

function sourcesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(directory, name))
}
