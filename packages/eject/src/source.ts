import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'

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
  'packages/eject/static',
  'nginx/conf',
  'deploy/kubernetes/app',
  'deploy/kubernetes/components/njs',
  'pnpm-workspace.yaml',
  '.editorconfig',
]

/** Files that git ignores, such as what was built, are left out. @throws {ForeseenError} if this is not a clone */
export function readSource(): Source {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' })
  try {
    const commit = git('describe', '--always', '--dirty', '--abbrev=40', '--exclude=*').trim()
    const paths = git('ls-files', '-z', '--cached', '--others', '--exclude-standard', ...NEEDED).split('\0')
    const present = paths.filter((path) => path !== '' && existsSync(join(ROOT, path)))
    const files = present.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])
    return { commit, files: Object.fromEntries(files) }
  } catch (cause) {
    throw new ForeseenError('git lists no files here: eject copies from a clone, made by git.', { cause })
  }
}
