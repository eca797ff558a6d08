import { fileURLToPath } from 'node:url'

/** Which apps and topologies there are. The only list of them: commands, tests and benchmark read it. */

export const FRAMEWORKS = ['node', 'fastify', 'express', 'koa', 'hono', 'bun', 'njs'] as const
export const ROLES = ['hello', 'ssr', 'status'] as const
export const TOPOLOGIES = ['direct', 'nginx', 'nginx-naive', 'nginx-socket'] as const

export type Framework = (typeof FRAMEWORKS)[number]
export type Role = (typeof ROLES)[number]
export type Topology = (typeof TOPOLOGIES)[number]

/** What an app may lack; docs/contract.md says why. */
export type Capability = 'stream' | 'pipelined-stream'

export interface App {
  framework: Framework
  role: Role
  /** `fastify/ssr` */
  name: string
  /** Absolute path of the framework's package. */
  directory: string
  absent: readonly Capability[]
}

const APPS_DIR = fileURLToPath(new URL('../../../apps/', import.meta.url))

const ABSENT: Readonly<Record<string, readonly Capability[]>> = {
  'bun/ssr': ['pipelined-stream'],
  'njs/ssr': ['stream'],
}

/** The 21 apps, framework by framework. */
export const APPS: readonly App[] = FRAMEWORKS.flatMap((framework) =>
  ROLES.map((role) => ({
    framework,
    role,
    name: `${framework}/${role}`,
    directory: `${APPS_DIR}${framework}`,
    absent: ABSENT[`${framework}/${role}`] ?? [],
  })),
)

/** A name that is in none of the lists; the message lists the right ones. */
export class UnknownName extends Error {
  override name = 'UnknownName'
}

/**
 * The apps that a name stands for: `fastify/ssr` one, `fastify` three, `ssr` seven.
 * @throws {UnknownName}
 */
export function findApps(name: string): App[] {
  const found = APPS.filter((app) => app.name === name || app.framework === name || app.role === name)
  if (found.length === 0) {
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
