import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from './config.ts'

/** Files of `src/` that are not a role. */
const OTHERS = new Set(['base.ts', 'server.ts'])

/** The roles in a directory: its files by name, so that an app lifted out with one role has nothing to rewrite. */
export function listRoles(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.ts') && !OTHERS.has(file))
    .map((file) => file.slice(0, -3))
    .sort()
}

/**
 * The role that is meant.
 * @param directory where the role files are
 * @param name may be absent where there is only one role
 * @throws {StartError} listing the roles there are
 */
export function findRole(directory: string, name: string | undefined): string {
  const roles = listRoles(directory)
  const found = name ?? (roles.length === 1 ? roles[0] : undefined)
  if (found === undefined) throw new StartError(`Say which app to start: ${roles.join(', ')}.`)
  if (!roles.includes(found))
    throw new StartError(`There is no app '${found}' here, only ${roles.join(', ')}.`)
  return found
}

/**
 * Finds and imports a role; the rest is as in `findRole`.
 * @throws {StartError}
 */
export async function loadRole<Role>(
  directory: string,
  name: string | undefined,
): Promise<{ name: string; role: Role }> {
  const found = findRole(directory, name)
  return { name: found, role: await importRole<Role>(join(directory, `${found}.ts`)) }
}

/** Node and Bun name what they do not find in the first line: a package, or a file that the build makes. */
async function importRole<Role>(path: string): Promise<Role> {
  try {
    return (await import(pathToFileURL(path).href)) as Role
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    const [reason = ''] = error.message.split('\n')
    throw new StartError(`${reason.replace(/\.$/, '')}: install and build first.`, { cause: error })
  }
}
