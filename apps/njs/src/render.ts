import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatListen } from '@startgrid/nginx/address.ts'
import { jsEngine, loadModule, type Nginx } from '@startgrid/nginx/find.ts'
import { standardOutput } from '@startgrid/nginx/launch.ts'
import {
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

/** conf/nginx.conf, which is for the official image, for an NGINX of this machine with a directory of its own. */
export function renderConfig({ nginx, config, routes, modules }: Options, main: MainOptions): string {
  const { HOST, PORT, LOG_LEVEL, MAX_QUEUE_WAIT_MS } = config
  const proxies = listProxies(process.env.TRUST_PROXY)
  const log = `"${standardOutput(main)}" app buffer=16k flush=1s if=$logged`
  const differing = {
    'include main.conf;': `${loadModule(nginx)}\n${renderMain(main)}`,
    'include temporary.conf;': renderTemporaryPaths(main.dir),
    'keepalive_min_timeout 1s;': gracefulReload(nginx.keepaliveMinTimeout),
    'js_engine qjs;': jsEngine(nginx),
    '../dist': modules,
    '/dev/stdout app if=$logged': ['info', 'debug', 'trace'].includes(LOG_LEVEL) ? log : 'off',
    '# set_real_ip_from 10.0.0.0/8;': proxies.map((range) => `set_real_ip_from ${range};`).join(' '),
    '# 10.0.0.0/8 1;': proxies.map((range) => `${range} 1;`).join(' '),
    '[::]:3000 ipv6only=off': formatListen({ host: HOST, port: PORT }),
    'dist/assets': join(DIST, 'assets'),
    'max_queue_wait_ms 250': `max_queue_wait_ms ${MAX_QUEUE_WAIT_MS}`,
    'include hello.conf;': `include "${routes}";`,
    '/tmp/draining': `${main.dir}/draining`,
  }
  const own = readFileSync(join(ROOT, 'conf/nginx.conf'), 'utf8')
  return Object.entries(differing).reduce((text, [from, to]) => {
    const [before, after, ...more] = text.split(from)
    if (after === undefined || more.length > 0)
      throw new Error(`conf/nginx.conf does not have one '${from}'.`)
    return before + to + after
  }, own)
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
