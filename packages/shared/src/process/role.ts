import { StartError } from './config.ts'
import { type AppOptions, begin, refuse } from './lifecycle.ts'

/**
 * `begin` for the role that is named on the command line, logged as `framework/role`.
 * @param roles loads the routes of each role, so that a server imports only what it serves
 */
export async function beginRole<Routes>(
  framework: string,
  roles: Readonly<Record<string, () => Promise<Routes>>>,
): Promise<AppOptions & { routes: Routes }> {
  try {
    const role = requireRole(Object.keys(roles), process.argv[2])
    return await begin(`${framework}/${role}`, roles[role] as () => Promise<Routes>)
  } catch (error) {
    return refuse(error)
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
