import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { TOPOLOGIES as FRONTS } from '@startgrid/nginx/render.ts'
import { CATALOGUE, type Capability, type Framework, ROLES, type Role, type Runtime } from './frameworks.ts'

export { ROLES, type Role }

/** The apps and topologies: every framework of the catalogue in every role. */

/** The names of the frameworks, in the order of the catalogue. */
export const FRAMEWORKS: readonly string[] = CATALOGUE.map(({ name }) => name)
export const TOPOLOGIES = ['direct', ...FRONTS] as const

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

/** The framework that all others are compared with: the first one. */
export const BASELINE = FRAMEWORKS[0] ?? ''

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

/**
 * The entry of the catalogue. @param name also a second name of a race: `acme#2`
 * @throws {UsageError}
 */
export function findFramework(name: string): Framework {
  const found = CATALOGUE.find((one) => one.name === name.replace(/#\d+$/, ''))
  if (found === undefined)
    throw new UsageError(`There is no framework '${name}', only ${FRAMEWORKS.join(', ')}.`)
  return found
}

/** What runs the program in a package: the framework's runtime for `apps/NAME`, Node for others. */
export function runtimeOf(directory: string): Runtime {
  const name = directory.replace(/^.*\//, '')
  return CATALOGUE.find((one) => one.name === name)?.runtime ?? 'node'
}

/**
 * The apps that a name selects: `fastify/ssr` selects one app, `fastify` all of a framework, `ssr` all of a role.
 * @throws {UsageError}
 */
export function findApps(name: string): App[] {
  const found = APPS.filter((app) => app.name === name || app.framework === name || app.role === name)
  if (found.length === 0)
    throw new UsageError(
      `There is no app '${name}'. Name a framework (${FRAMEWORKS.join(', ')}), a role (${ROLES.join(', ')}) ` +
        `or an app, such as ${APPS[4]?.name}.`,
    )
  return found
}

/** @throws {UsageError} */
export function findTopology(name: string): Topology {
  const found = TOPOLOGIES.find((topology) => topology === name)
  if (found === undefined)
    throw new UsageError(`There is no topology '${name}', only ${TOPOLOGIES.join(', ')}.`)
  return found
}

/** @throws {UsageError} */
export function findRole(name: string): Role {
  const found = ROLES.find((role) => role === name)
  if (found === undefined) throw new UsageError(`There is no role '${name}', only ${ROLES.join(', ')}.`)
  return found
}
