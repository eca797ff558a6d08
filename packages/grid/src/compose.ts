import { type App, FRAMEWORKS, ROLES } from './apps.ts'

/** How docker-compose.yml names and numbers the apps. */

/** The topologies of apps in containers. The other topologies exist only natively. */
export const COMPOSE_TOPOLOGIES = ['direct', 'nginx'] as const
export type ComposeTopology = (typeof COMPOSE_TOPOLOGIES)[number]

/** The port of every app in its container. */
export const APP_PORT = 3000

/** The port of the landing page in NGINX's container. */
export const PAGE_PORT = 8080

/** Prefix of the published ports if STARTGRID_PORTS is not set. NGINX's container always uses it. */
export const PORT_PREFIX = 4

/** `fastify-ssr` */
export function serviceName({ framework, role }: Pick<App, 'framework' | 'role'>): string {
  return `${framework}-${role}`
}

/**
 * The port on this machine: the prefix, two digits for the framework, from 11 in the order of the catalogue, and 1 to 3 for the role, 6 to 8
 * behind NGINX.
 * @param prefix the first digits, as STARTGRID_PORTS has them
 */
export function publishedPort(
  { framework, role }: Pick<App, 'framework' | 'role'>,
  topology: ComposeTopology,
  prefix: number = PORT_PREFIX,
): number {
  const behind = topology === 'nginx' ? 5 : 0
  const row = FRAMEWORKS.indexOf(framework)
  if (row < 0) throw new Error(`There is no framework '${framework}'.`)
  return prefix * 1000 + (11 + row) * 10 + ROLES.indexOf(role) + 1 + behind
}
