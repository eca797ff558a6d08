import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EjectError } from './eject-error.ts'
import { isMissing } from './file-error.ts'
import { git } from './git.ts'

/** The repository that apps are copied from. */
export const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * The files below a directory that git tracks, with what they contain now, by path from the workspace: so no build output and no
 * notes are copied along, but a change that is not committed is.
 * @throws {EjectError} if this is no clone
 */
export async function readTracked(directory: string): Promise<Map<string, string>> {
  const paths = await listTracked(directory)
  const texts = await Promise.all(paths.map(readIfThere))
  return new Map(paths.flatMap((path, index) => (texts[index] === undefined ? [] : [[path, texts[index]]])))
}

async function listTracked(directory: string): Promise<string[]> {
  try {
    const list = await git(WORKSPACE, ['ls-files', '-z', '--', directory])
    return list.split('\0').filter((path) => path !== '')
  } catch (error) {
    throw new EjectError('Only a clone can be copied from, and by git: it lists no files here.', {
      cause: error,
    })
  }
}

/** A tracked file may have been deleted since. */
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
