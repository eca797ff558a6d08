import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from './config.ts'
import { type AppOptions, refuse, type Service, start } from './lifecycle.ts'

/** Files of `src/` that are not a role. */
const OTHERS = new Set(['base.ts', 'server.ts'])

/** The roles in a directory: its files by name. */
export function listRoles(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.ts') && !OTHERS.has(file))
    .map((file) => file.slice(0, -3))
    .sort()
}

/**
 * The role that is meant.
 * @param directory where the role files are
 * @param name as a person gave it
 * @throws {StartError} listing the roles there are
 */
export function findRole(directory: string, name: string | undefined): string {
  const roles = listRoles(directory)
  if (name === undefined) throw new StartError(`Say which app to start: ${roles.join(', ')}.`)
  if (!roles.includes(name)) throw new StartError(`There is no app '${name}' here, only ${roles.join(', ')}.`)
  return name
}

/**
 * `start` for a role that is found by its name, logged as `framework/role`.
 * @param directory where the role files are
 * @param name as a person gave it
 */
export async function startRole<Role>(
  framework: string,
  directory: string,
  name: string | undefined,
  createService: (role: Role, options: AppOptions) => Service | Promise<Service>,
): Promise<void> {
  try {
    const role = findRole(directory, name)
    const load = (): Promise<Role> => import(pathToFileURL(join(directory, `${role}.ts`)).href)
    await start(`${framework}/${role}`, load, createService)
  } catch (error) {
    await refuse(error)
  }
}
