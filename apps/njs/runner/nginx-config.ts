import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { jsEngine, loadModule, type Nginx } from '@startgrid/nginx/find.ts'
import { standardOutput } from '@startgrid/nginx/launch.ts'
import { fill, type Place, renderMain, renderTemporaryPaths } from '@startgrid/nginx/render.ts'
import type { LaunchConfig } from '#shared/launch/config.ts'

const ROOT = join(import.meta.dirname, '..')

/** The output of build.ts: a module per engine and role, and the page's files. */
export const DIST = join(ROOT, 'dist')

/** The files of `src/` that export routes, each under its own name. */
export const ROLES = ['hello', 'ssr', 'status'] as const
export type Role = (typeof ROLES)[number]

/** Everything that the NGINX configuration of an app depends on. */
export interface Settings {
  role: Role
  /** The bundled role. */
  module: string
  nginx: Pick<Nginx, 'njs' | 'keepaliveMinTimeout'>
  /** Without a port it is a unix socket. */
  address: { port: number | undefined }
  config: LaunchConfig
  trustProxy: string
}

/** The whole configuration of an NGINX with its own directory. */
export function renderConfig(settings: Settings, draining: boolean): (place: Place) => string {
  const { role, module, nginx, address, config, trustProxy } = settings
  const proxies = listProxies(trustProxy, config)
  return (place) => {
    const assets = role === 'ssr' ? fill(readTemplate('assets'), { ASSETS_DIR: join(DIST, 'assets') }) : ''
    const http = fill(readTemplate('main'), {
      TEMPORARY_PATHS: renderTemporaryPaths(place.dir),
      GRACEFUL_RELOAD: nginx.keepaliveMinTimeout ? 'include startgrid/graceful-reload.conf;' : '',
      JS_ENGINE: jsEngine(nginx),
      MODULE: module,
      LOG: fill(readTemplate('log'), { APP: `njs/${role}` }),
      SHED: fill(readTemplate('shed'), { MAX_QUEUE_WAIT_MS: String(config.maxQueueWaitMs) }),
      DRAINING: draining ? '1' : '0',
      LISTEN: renderListen(config, address.port),
      ACCESS_LOG: renderAccessLog(config, place),
      FORWARDED: fill(readTemplate('forwarded'), {
        PROXIES: proxies.map((range) => `${range.replace('unix:', NO_ADDRESS)} 1;`).join('\n        '),
      }).trimEnd(),
      REAL_IP: proxies.length === 0 ? '' : renderRealIp(proxies),
      // While draining, every response says `connection: close`. NGINX also waits for connections that have not sent a request yet.
      CONNECTIONS: draining
        ? 'keepalive_timeout 0; client_header_timeout 5s;'
        : 'include startgrid/server/connections.conf;',
      ASSETS: assets,
    })
    return [loadModule(nginx), renderMain(place), http].join('\n')
  }
}

function readTemplate(name: string): string {
  return readFileSync(join(ROOT, 'conf', `${name}.conf.template`), 'utf8')
}

function renderListen({ host, socket }: LaunchConfig, port: number | undefined): string {
  if (socket !== undefined) return `"unix:${socket}"`
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** One line per response at `info`, as in the other apps. Failures go to the error log, which is standard error. */
function renderAccessLog({ logLevel }: LaunchConfig, place: Place): string {
  const logged = ['info', 'debug', 'trace'].includes(logLevel)
  if (!logged) return 'access_log off;'
  const output = `"${standardOutput(place)}"`
  const buffer = 'buffer=16k flush=1s'
  return `access_log ${output} plain ${buffer} if=$logged_plain;\n        access_log ${output} traced ${buffer} if=$logged_traced;`
}

/** The names of proxy-addr, which NGINX does not know. */
const RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** What `geo` takes for the peer of a unix socket. */
const NO_ADDRESS = '255.255.255.255'

/** The proxies whose X-Forwarded-* count. */
function listProxies(trusted: string, { socket }: LaunchConfig): string[] {
  if (trusted === '') return []
  const ranges = trusted.split(',').flatMap((part) => RANGES[part.trim()] ?? [part.trim()])
  return socket === undefined ? ranges : ['unix:', ...ranges]
}

function renderRealIp(proxies: readonly string[]): string {
  return [
    ...proxies.map((range) => `set_real_ip_from ${range};`),
    'real_ip_header X-Forwarded-For;',
    'real_ip_recursive on;',
  ].join('\n        ')
}
