import { StartError } from './config.ts'
import { type AppOptions, refuse, type Service, start } from './lifecycle.ts'

/**
 * `start` for the role that is named on the command line, logged as `framework/role`.
 * @param name the role that a person asked for
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
