import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartError } from './config.ts'
import { type AppOptions, refuse, type Service, start } from './lifecycle.ts'

/** Files of `src/` that are not a role. */
const OTHERS = new Set(['app.ts', 'base.ts', 'server.ts'])

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
 * The way of the apps that do not list their roles yet: `startRole` replaces it.
 * `start` for a role that is found by its name, logged as `framework/role`.
 * @param directory where the role files are
 * @param name as a person gave it
 */
export async function startFound<Role>(
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

/**
 * `start` for the role that is named on the command line, logged as `framework/role`.
 * @param name as a person gave it
 * @param roles loads the routes of each role, so that a server imports only what it serves
 */
export async function startRole<Routes>(
  framework: string,
  name: string | undefined,
  roles: Readonly<Record<string, () => Promise<Routes>>>,
  createService: (routes: Routes, options: AppOptions) => Service | Promise<Service>,
): Promise<void> {
  try {
    const role = requireRole(Object.keys(roles), name)
    const load = roles[role]
    if (load !== undefined) await start(`${framework}/${role}`, load, createService)
  } catch (error) {
    await refuse(error)
  }
}

/**
 * The role that a person named.
 * @throws {StartError} listing the roles
 */
export function requireRole<Role extends string>(roles: readonly Role[], name: string | undefined): Role {
  const found = roles.find((role) => role === name)
  if (found !== undefined) return found
  const names = roles.join(', ')
  if (name === undefined) throw new StartError(`Say which app to start: ${names}.`)
  throw new StartError(`There is no app '${name}' here, only ${names}.`)
}
