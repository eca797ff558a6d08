import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What projects are made of: texts by their path in this repository, and its commit. Plain data, so that `npm create startgrid` has it as JSON. */
export interface Source {
  commit: string
  files: Readonly<Record<string, string>>
}

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const NEEDED = [
  'apps',
  'packages/shared/package.json',
  'packages/shared/src',
  'packages/shared/migrations',
  'packages/eject/static',
  'nginx/conf',
  'deploy/kubernetes/app',
  'deploy/kubernetes/components/njs',
  'pnpm-workspace.yaml',
  '.editorconfig',
]

/** What git ignores as well, and a link to nginx/conf. */
const IGNORED = /^(?:node_modules|dist|public|startgrid|\.turbo|\.cache)$|\.tsbuildinfo$/

/** Files are walked instead of asked of git, because an unpacked archive has none. */
export function readSource(): Source {
  const files = NEEDED.flatMap(listFiles).map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])
  return { commit: readCommit(), files: Object.fromEntries(files) }
}

function listFiles(path: string): string[] {
  if (statSync(join(ROOT, path)).isFile()) return [path]
  const names = readdirSync(join(ROOT, path)).filter((name) => !IGNORED.test(name))
  return names.flatMap((name) => listFiles(`${path}/${name}`))
}

function readCommit(): string {
  // Not of a repository that an archive was unpacked in.
  const args = ['--git-dir=.git', 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'unknown (not a git checkout)'
}
