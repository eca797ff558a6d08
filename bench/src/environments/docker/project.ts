import type { App } from '@startgrid/grid/apps.ts'
import { addressInside, FRONT_SERVICE, PAGE_PORT, serviceName } from '@startgrid/grid/compose.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { hostOf, MEASURABLE } from '../environment.ts'
import { ASSETS_INSIDE, renderContained } from '../native/front.ts'

/** The Compose project of a heat, made from the services of docker-compose.yml: the same images, limits and settings. Pure. */

/** As `docker compose config --format json` prints it; only what is read or replaced here has a type. */
export interface ComposeFile {
  services: Readonly<Record<string, ComposeService>>
  networks?: Readonly<Record<string, unknown>>
}

export interface ComposeService {
  image: string
  command?: readonly string[] | null
  environment?: Readonly<Record<string, string | null>> | null
  [option: string]: unknown
}

interface HeatProject {
  apps: readonly App[]
  /** The configuration of NGINX, on this machine; undefined without NGINX. */
  nginxConfig: string | undefined
  /** Which exists already, and stays when the project goes: the generator is in it. */
  network: string
  labels: Readonly<Record<string, string>>
  /** The only core that apps and NGINX may use; undefined for any. */
  cpu: number | undefined
}

/** @throws {Error} if docker-compose.yml lacks a service */
export function composeHeat(file: ComposeFile, project: HeatProject): ComposeFile {
  const { apps, nginxConfig, network } = project
  const services = apps.map((app) => [hostOf(app.name), appService(file, app, project)] as const)
  const proxy = nginxConfig === undefined ? [] : [[FRONT_SERVICE, proxyService(file, project)] as const]
  return {
    services: Object.fromEntries([...services, ...proxy]),
    networks: { default: { name: network, external: true } },
  }
}

function appService(file: ComposeFile, app: App, project: HeatProject): ComposeService {
  const service = baseService(file, serviceName(app), project)
  if (app.runtime !== 'nginx')
    return {
      ...service,
      environment: { ...service.environment, ...MEASURABLE },
    }
  // NGINX cannot read its environment: the image has a second configuration that logs no requests.
  return {
    ...service,
    command: service.command?.map((word) => word.replace(/\.conf$/, '-quiet.conf')) ?? null,
  }
}

function proxyService(file: ComposeFile, project: HeatProject): ComposeService {
  const service = baseService(file, FRONT_SERVICE, project)
  const config = { type: 'bind', source: project.nginxConfig, target: NGINX_CONFIG, read_only: true }
  return { ...service, command: ['nginx', '-e', 'stderr', '-c', NGINX_CONFIG], volumes: [config] }
}

/** Beside the image's own: what a configuration includes is relative to it. */
const NGINX_CONFIG = '/etc/nginx/heat.conf'

function baseService(
  { services }: ComposeFile,
  name: string,
  { labels, cpu }: Pick<HeatProject, 'labels' | 'cpu'>,
): ComposeService {
  const found = services[name]
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}.`)
  const kept = Object.entries(found).filter(([option]) => !LEFT_OUT.has(option))
  return {
    ...(Object.fromEntries(kept) as ComposeService),
    labels,
    pull_policy: 'never',
    // What ends in a heat has failed.
    restart: 'no',
    // A probe is a process of its own in the app's control group: none may run beside a slice.
    healthcheck: { interval: '1h', start_interval: '500ms' },
    ...(cpu !== undefined && { cpuset: String(cpu) }),
  }
}

/** Published ports go through a proxy and would collide; the rest makes sense in the whole grid only. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'ports',
  'profiles',
  'build',
  'depends_on',
  'hostname',
  'volumes',
])

/**
 * The NGINX in front of a heat: fronts for its apps alone, as natively, so that a twin has one too. The image's own configuration has one
 * for each app and none for twins.
 */

/** Where the image's health is asked for, and what tells the generator's ceiling. */
export const CEILING = { host: FRONT_SERVICE, port: PAGE_PORT } as const

/** Inside the Compose network. @param index of the app in its heat */
export function frontAddress(index: number): { host: string; port: number } {
  return { host: FRONT_SERVICE, port: PAGE_PORT + 1 + index }
}

/** The whole configuration, with one front per app in this order and one that responds to `/ceiling` alone. */
export function renderFronts(apps: readonly App[]): string {
  const blocks = ['include startgrid/container.conf;']
  return renderContained(apps.map(createFront), { ceilingPort: CEILING.port, blocks })
}

function createFront(app: App, index: number): Front {
  return {
    name: hostOf(app.name),
    topology: 'nginx',
    listen: { host: '0.0.0.0', port: frontAddress(index).port },
    upstream: addressInside(app, 'direct', hostOf(app.name)),
    discovered: true,
    ...(app.role === 'ssr' && { serveAssets: ASSETS_INSIDE }),
  }
}
