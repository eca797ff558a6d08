import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EjectError } from './eject-error.ts'
import { isMissing } from './file-error.ts'
import { git } from './git.ts'

/** The repository that apps are copied from. */
export const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * The files below these paths that git tracks, with their current content, by their path in the workspace. So build output is not
 * copied, but uncommitted changes are.
 * @throws {EjectError} if this is not a git clone
 */
export async function readTracked(below: readonly string[]): Promise<Map<string, string>> {
  const paths = await listTracked(below)
  const texts = await Promise.all(paths.map(readIfThere))
  return new Map(paths.flatMap((path, index) => (texts[index] === undefined ? [] : [[path, texts[index]]])))
}

/**
 * @throws {EjectError} saying what to do, if an app has files that git does not track: a project would lack them
 */
export async function requireTracked(directory: string): Promise<void> {
  const untracked = await git(WORKSPACE, ['ls-files', '--others', '--exclude-standard', '--', directory])
  if (untracked === '') return
  const [first] = untracked.split('\n')
  throw new EjectError(`${first} is not in git, from which apps are copied: git add ${directory}`)
}

async function listTracked(below: readonly string[]): Promise<string[]> {
  try {
    const list = await git(WORKSPACE, ['ls-files', '-z', '--', ...below])
    return list.split('\0').filter((path) => path !== '')
  } catch (error) {
    throw new EjectError('Only a clone can be copied from, and by git: it lists no files here.', {
      cause: error,
    })
  }
}

/** The commit that is checked out, with `-dirty` behind it if tracked files have changed. */
export async function readCommit(): Promise<string> {
  const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  return (await git(WORKSPACE, args)).trim()
}

/** The web address of the repository that this is a clone of, without credentials; nothing if it is of another kind. */
export async function readRepository(): Promise<{ repository?: string }> {
  const url = await git(WORKSPACE, ['remote', 'get-url', 'origin']).catch(() => '')
  return parseRemote(url)
}

/** @param url as Git has it: `https://…`, `ssh://git@…` or `git@host:path` */
export function parseRemote(url: string): { repository?: string } {
  const [, host, path] =
    /^(?:https:\/\/|ssh:\/\/|(?=git@))(?:[^@/]*@)?([^/:]+)[:/](.+?)(?:\.git)?\/?\s*$/.exec(url) ?? []
  return host === undefined ? {} : { repository: `https://${host}/${path}` }
}

/** The content, or undefined if a tracked file was deleted. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(WORKSPACE, path), 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** A configuration file of the workspace. */
export function readWorkspaceFile(path: string): Promise<string> {
  return readFile(join(WORKSPACE, path), 'utf8')
}
