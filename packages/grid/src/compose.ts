import { CATALOGUE } from './frameworks.ts'
import { type App, ROLES } from './matrix.ts'

/** How docker-compose.yml names and numbers the apps. */

/** The ways to an app in containers; the other topologies exist natively only. */
export const COMPOSE_TOPOLOGIES = ['direct', 'nginx'] as const
export type ComposeTopology = (typeof COMPOSE_TOPOLOGIES)[number]

/** The service of the NGINX in front of all apps, which also serves the landing page. */
export const FRONT_SERVICE = 'nginx'

/** Where every app listens in its container. */
export const APP_PORT = 3000

/** Where the landing page is in the container of the NGINX in front. */
export const PAGE_PORT = 8080

/** Of the published ports, if STARTGRID_PORTS is not set; always in the container of the NGINX in front. */
export const PORT_PREFIX = 41

/** `fastify-ssr` */
export function serviceName({ framework, role }: Pick<App, 'framework' | 'role'>): string {
  return `${framework}-${role}`
}

/**
 * The port on this machine: the prefix, the digit of the framework, and 1 to 3 for the role, 6 to 8 behind NGINX.
 * @param prefix the first digits, as STARTGRID_PORTS has them
 */
export function publishedPort(
  { framework, role }: Pick<App, 'framework' | 'role'>,
  topology: ComposeTopology,
  prefix: number = PORT_PREFIX,
): number {
  const behind = topology === 'nginx' ? 5 : 0
  const digit = CATALOGUE.find(({ name }) => name === framework)?.port
  if (digit === undefined) throw new Error(`There is no framework '${framework}'.`)
  return prefix * 100 + digit * 10 + ROLES.indexOf(role) + 1 + behind
}

/**
 * Where the app of this topology listens inside the Compose network.
 * @param host the name of its container there
 */
export function addressInside(
  app: Pick<App, 'framework' | 'role'>,
  topology: ComposeTopology,
  host: string = serviceName(app),
): { host: string; port: number } {
  if (topology === 'direct') return { host, port: APP_PORT }
  return { host: FRONT_SERVICE, port: publishedPort(app, topology) }
}
