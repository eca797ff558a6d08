import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatListen } from '@startgrid/nginx/address.ts'
import { jsEngine, loadModule, type Nginx } from '@startgrid/nginx/find.ts'
import { standardOutput } from '@startgrid/nginx/launch.ts'
import {
  fill,
  gracefulReload,
  type MainOptions,
  renderMain,
  renderTemporaryPaths,
} from '@startgrid/nginx/render.ts'
import type { Config } from '#shared/config.ts'

const ROOT = join(import.meta.dirname, '..')

/** The output of build.ts: a module per engine and role, and the page's files. */
export const DIST = join(ROOT, 'dist')

export const ROLES = ['hello', 'ssr', 'status']

interface Options {
  nginx: Pick<Nginx, 'njs' | 'keepaliveMinTimeout'>
  /** TRUST_PROXY is read from the environment: as a setting it is a function, which NGINX cannot call. */
  config: Pick<Config, 'HOST' | 'PORT' | 'LOG_LEVEL' | 'MAX_QUEUE_WAIT_MS'>
  /** The file with the locations of the app. */
  routes: string
  /** Where `js_import` finds modules. */
  modules: string
}

/** The files of a role. */
export function filesOf(role: string, engine: string) {
  return { routes: join(ROOT, `conf/${role}.conf`), modules: join(DIST, engine) }
}

/** The configuration of an NGINX with a directory of its own. */
export function renderConfig({ nginx, config, routes, modules }: Options, main: MainOptions): string {
  const { HOST, PORT, LOG_LEVEL, MAX_QUEUE_WAIT_MS } = config
  const proxies = listProxies(process.env.TRUST_PROXY)
  const log = `"${standardOutput(main)}" app buffer=16k flush=1s if=$logged`
  return fill(readFileSync(join(ROOT, 'conf/nginx.conf.template'), 'utf8'), {
    MAIN: `${loadModule(nginx)}\n${renderMain(main)}`,
    TEMPORARY_PATHS: renderTemporaryPaths(main.dir),
    GRACEFUL_RELOAD: gracefulReload(nginx.keepaliveMinTimeout),
    JS_ENGINE: jsEngine(nginx),
    MODULES: modules,
    ACCESS_LOG: ['info', 'debug', 'trace'].includes(LOG_LEVEL) ? log : 'off',
    REAL_IP: proxies.map((range) => `set_real_ip_from ${range};`).join(' '),
    PROXIES: proxies.map((range) => `${range} 1;`).join(' '),
    LISTEN: formatListen({ host: HOST, port: PORT }),
    ASSETS: join(DIST, 'assets'),
    MAX_QUEUE_WAIT_MS: String(MAX_QUEUE_WAIT_MS),
    ROUTES: routes,
    DIR: main.dir,
  })
}

/** The names of proxy-addr, which NGINX does not know. */
const RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

function listProxies(list = ''): readonly string[] {
  if (list === '') return []
  return list.split(/ *, */).flatMap((name) => RANGES[name] ?? [name])
}
