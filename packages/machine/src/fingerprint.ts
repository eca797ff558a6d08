import { createHash, type Hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * One hash of files and facts. While it stays the same, results that depend on them stay valid.
 * @param paths files and directories, relative to the repository. Directories count with their sources and build output, but without
 * tests and installed packages (the lockfile covers those).
 * @returns 32 hexadecimal digits
 */
export function fingerprint(paths: readonly string[], facts: readonly (string | undefined)[] = []): string {
  const hash = createHash('sha256')
  for (const path of paths) hashPath(hash, path)
  return hash.update(facts.join('\0')).digest('hex').slice(0, 32)
}

function hashPath(hash: Hash, path: string): void {
  if (statSync(`${ROOT}${path}`).isDirectory()) hashDirectory(hash, path)
  else hash.update(`${path}\0`).update(readFileSync(`${ROOT}${path}`))
}

function hashDirectory(hash: Hash, directory: string): void {
  const entries = readdirSync(`${ROOT}${directory}`, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  for (const entry of entries) {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory() && !IGNORED.has(entry.name)) hashDirectory(hash, path)
    else if (entry.isFile() && !IGNORED_FILE.test(entry.name)) hashPath(hash, path)
  }
}

const IGNORED: ReadonlySet<string> = new Set(['node_modules', 'test', '.turbo', '.cache'])
/** Hidden, or what `pnpm typecheck` remembers. */
const IGNORED_FILE = /^\.|\.tsbuildinfo$/
