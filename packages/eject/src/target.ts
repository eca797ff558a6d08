import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { EjectError } from './eject-error.ts'
import { hasCode, isMissing } from './file-error.ts'

/**
 * Checks where a project is to be written.
 * @param path the path that a person typed
 * @param from the directory that it is relative to
 * @param check refuses places by their real path
 * @returns its real path
 * @throws {EjectError}
 */
export async function resolveTarget(
  path: string,
  from: string,
  check?: (target: string, path: string) => Promise<void>,
): Promise<string> {
  const target = await realTarget(resolve(from, path))
  await check?.(target, path)
  await refuseContent(target, path)
  return target
}

/** The target may be missing, but its parent directory must exist. */
async function realTarget(target: string): Promise<string> {
  const parent = dirname(target)
  try {
    return await realpath(target)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  try {
    return join(await realpath(parent), basename(target))
  } catch (error) {
    if (isMissing(error)) throw new EjectError(`The directory ${parent} does not exist: make it first.`)
    throw error
  }
}

/** Both are real paths. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way === '' || !/^\.\.(?:[/\\]|$)/.test(way)
}

async function refuseContent(target: string, path: string): Promise<void> {
  try {
    const [found] = await readdir(target)
    if (found === undefined) return
    throw new EjectError(`${path} is not empty (it has ${found}): choose another directory, or empty it.`)
  } catch (error) {
    if (isMissing(error)) return
    if (hasCode(error, 'ENOTDIR')) throw new EjectError(`${path} is a file: choose another name.`)
    throw error
  }
}
