import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CATALOGUE, type Capability, type Runtime } from './frameworks.ts'

/** The apps and topologies: every framework of the catalogue in every role. */

/** The names of the frameworks, in the order of the catalogue. */
export const FRAMEWORKS: readonly string[] = CATALOGUE.map(({ name }) => name)
export const ROLES = ['hello', 'ssr', 'status'] as const
export const TOPOLOGIES = ['direct', 'nginx', 'nginx-naive', 'nginx-socket'] as const

export type Role = (typeof ROLES)[number]
export type Topology = (typeof TOPOLOGIES)[number]

export interface App {
  framework: string
  runtime: Runtime
  role: Role
  /** `fastify/ssr` */
  name: string
  /** Absolute path of the framework's package. */
  directory: string
  absent: readonly Capability[]
}

const APPS_DIR = fileURLToPath(new URL('../../../apps/', import.meta.url))

/** All apps, framework by framework. */
export const APPS: readonly App[] = CATALOGUE.flatMap(({ name: framework, runtime, absent }) =>
  ROLES.map((role) => ({
    framework,
    runtime,
    role,
    name: `${framework}/${role}`,
    directory: `${APPS_DIR}${framework}`,
    absent: absent.filter((one) => one.role === role).map(({ capability }) => capability),
  })),
)

/** A name that is in no list. The message lists the valid names. */
export class UnknownName extends Error {
  override name = 'UnknownName'
}

/**
 * The apps that a name selects: `fastify/ssr` selects one app, `fastify` all of a framework, `ssr` all of a role.
 * @throws {UnknownName}
 */
export function findApps(name: string): App[] {
  const found = APPS.filter((app) => app.name === name || app.framework === name || app.role === name)
  if (found.length === 0) {
    const [folder = ''] = name.split('/')
    if (/^[a-z][a-z0-9]*$/.test(folder) && !FRAMEWORKS.includes(folder) && existsSync(`${APPS_DIR}${folder}`))
      throw new UnknownName(
        `There is a folder apps/${folder}, but no entry '${folder}' in packages/grid/src/frameworks.ts: add one.`,
      )
    throw new UnknownName(
      `There is no app '${name}'. Frameworks: ${FRAMEWORKS.join(', ')}; roles: ${ROLES.join(', ')}; ` +
        `or one app, such as ${APPS[4]?.name}.`,
    )
  }
  return found
}

/** @throws {UnknownName} */
export function findTopology(name: string): Topology {
  const found = TOPOLOGIES.find((topology) => topology === name)
  if (found === undefined)
    throw new UnknownName(`There is no topology '${name}', only ${TOPOLOGIES.join(', ')}.`)
  return found
}

/** @throws {UnknownName} */
export function findRole(name: string): Role {
  const found = ROLES.find((role) => role === name)
  if (found === undefined) throw new UnknownName(`There is no role '${name}', only ${ROLES.join(', ')}.`)
  return found
}
