import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type Address, formatListen, formatUpstream, type Upstream } from './address.ts'

/** How a request reaches the app through NGINX. `direct` is not in the list, because it needs no NGINX. */
export const TOPOLOGIES = ['nginx', 'nginx-tls'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/** A certificate with its chain, and its key: absolute paths of PEM files. */
export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** One port of an NGINX and the app behind it. One NGINX can have any number of fronts. */
export interface Front {
  /** Letters, digits, dots and dashes, different for each front of an NGINX: the upstream's name. */
  readonly name: string
  readonly topology: Topology
  /** Port 0: any free port; `Instance.addresses` says which. */
  readonly listen: Address
  readonly upstream: Upstream
  /** Further copies of the app, which share the requests with it. */
  readonly copies?: readonly Upstream[]
  /**
   * NGINX repeats the lookup of the upstream's name while it runs, so the app may start later or move (`resolver`; NGINX 1.27.3 and
   * later). By default there is one lookup, at the start.
   */
  readonly discovered?: boolean
  /** For `nginx-tls`. Default: one for this machine, made when NGINX starts. */
  readonly certificate?: Certificate
  /** Absolute path of the ssr app's hashed files, if NGINX is to serve /assets/ itself. */
  readonly serveAssets?: string
}

/** The app and its copies. */
export function upstreamsOf({ upstream, copies = [] }: Front): Upstream[] {
  return [upstream, ...copies]
}

/** @throws {Error} saying which front cannot work and why */
export function checkFronts(fronts: readonly Front[]): void {
  const names = new Set<string>()
  for (const front of fronts) {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(front.name) || names.has(front.name)) {
      refuse(front, 'its name must be its own, of letters, digits, dots and dashes')
    }
    names.add(front.name)
    const sockets = upstreamsOf(front).flatMap((one) => ('socketPath' in one ? [one.socketPath] : []))
    const { certificate, serveAssets = '/' } = front
    const files = certificate === undefined ? [] : [certificate.certificate, certificate.key]
    // They stand between double quotes in the configuration.
    if ([serveAssets, ...sockets, ...files].some((path) => !/^\/[^"$\\\p{Cc}]*$/u.test(path)))
      refuse(front, 'its paths must be absolute, without double quotes, dollars and backslashes')
  }
}

function refuse(front: Front, why: string): never {
  throw new Error(`Front ${JSON.stringify(front.name)} cannot work: ${why}.`)
}

/** The directory of the configuration files; `startgrid` in their includes. */
export const CONF = join(import.meta.dirname, '../../conf')

/** The values that the main part of a configuration needs. */
export interface MainOptions {
  /** The instance's own directory: configuration, pid, temporary files. */
  readonly dir: string
  /** Worker processes. */
  readonly workers: number
  /** Whether it runs in its own image, which sets the user, and in which /dev/stdout can be opened; default false. */
  readonly contained?: boolean
  /** The lowest level of errors that are logged; default `warn`. */
  readonly errorLevel?: 'warn' | 'crit'
}

export interface RenderOptions extends MainOptions {
  readonly fronts: readonly Front[]
  /** An `access_log` value such as `/tmp/access.log startgrid if=$logged`; default `off`. */
  readonly accessLog?: string
  /** Whether this NGINX knows `keepalive_min_timeout`. */
  readonly keepaliveMinTimeout?: boolean
  /** How this NGINX is told to speak HTTP/2: default `directive`. */
  readonly http2?: Http2
  /** Proxies in front: lines of a `geo` block, such as `10.0.0.0/8 1;` or an include. Default: none. */
  readonly trustedProxies?: string
  /** More for the `http` block, after the common part and before the fronts. */
  readonly blocks?: readonly string[]
}

/** `directive`: `http2 on;` (NGINX 1.25.1 and later). `parameter`: `listen … http2`. */
export type Http2 = 'directive' | 'parameter'

/**
 * The whole configuration of one NGINX for its fronts.
 * @throws {Error} if a front cannot work
 */
export function renderNginx(options: RenderOptions): string {
  checkFronts(options.fronts)
  const fronts = options.fronts.map((front) => renderFront(front, options))
  return [
    renderMain(options),
    'http {',
    indent(renderTemporaryPaths(options.dir)),
    indent(renderHttp(options)),
    ...(options.blocks ?? []).map(indent),
    ...fronts.map(indent),
    '}',
    '',
  ].join('\n')
}

/** What the `http` block has once, before the servers. */
export function renderHttp({
  trustedProxies = '',
  keepaliveMinTimeout,
}: Pick<RenderOptions, 'trustedProxies' | 'keepaliveMinTimeout'> = {}): string {
  return fill(readTemplate('00-http.conf.template'), {
    TRUSTED_PROXIES: trustedProxies,
    GRACEFUL_RELOAD: gracefulReload(keepaliveMinTimeout),
  })
}

/** The line of that name in a template. @param isKnown whether this NGINX knows it */
export function gracefulReload(isKnown = false): string {
  return isKnown ? 'keepalive_min_timeout 1s;' : ''
}

/** What follows the address in `listen`, and the lines after it: TLS and HTTP/2. */
export function renderTls({ certificate, key }: Certificate, http2: Http2 = 'directive') {
  return {
    parameters: http2 === 'directive' ? ' ssl' : ' ssl http2',
    lines: [
      ...(http2 === 'directive' ? ['http2 on;'] : []),
      `ssl_certificate "${certificate}";`,
      `ssl_certificate_key "${key}";`,
      'include startgrid/server/tls.conf;',
    ].join('\n    '),
  }
}

/**
 * Everything before the `http` block, for an NGINX without rights of its own that writes only in its directory.
 * @param connections of one worker at most
 */
export function renderMain(
  { dir, workers, contained, errorLevel = 'warn' }: MainOptions,
  connections = 4096,
): string {
  return [
    '# In the foreground: the process that started this NGINX holds it.',
    'daemon off;',
    // Docker 29 gives a container 1,024 files. Started by Node, NGINX has all that the system allows.
    ...(contained === true ? [`worker_rlimit_nofile ${2 * connections};`] : userLine()),
    `worker_processes ${workers};`,
    // Docker waits 10 s before it kills. It also ends the old workers of a reload whose clients read a stream.
    'worker_shutdown_timeout 9s;',
    `pid "${join(dir, 'nginx.pid')}";`,
    `error_log stderr ${errorLevel};`,
    'events {',
    '    # Both sides of every request count: 100 clients are 200 connections per front.',
    `    worker_connections ${connections};`,
    '}',
    '',
  ].join('\n')
}

/** For the `http` block: the compiled-in paths belong to root. NGINX makes the directories, but none above them. */
export function renderTemporaryPaths(dir: string): string {
  const names = ['client_body_temp', 'proxy_temp', 'fastcgi_temp', 'uwsgi_temp', 'scgi_temp']
  return names.map((name) => `${name}_path "${join(dir, name)}";`).join('\n')
}

/**
 * Fills in a template: `${NAME}` in capitals; NGINX's own `$variables` stay.
 * @throws {Error} naming a placeholder without value
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (placeholder, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`The template has no value for ${placeholder}.`)
    return value
  })
}

/** The `upstream` and the `server` block of a front. */
function renderFront(front: Front, { accessLog = 'off', http2 }: RenderOptions): string {
  const upstreams = upstreamsOf(front)
  const tls = front.certificate && renderTls(front.certificate, http2)
  return fill(readTemplate('keep-alive.conf.template'), {
    NAME: front.name,
    LISTEN: `${formatListen(front.listen)}${tls?.parameters ?? ''}`,
    TLS: tls?.lines ?? '',
    SERVERS: upstreams.map((upstream) => formatServer(upstream, front.discovered)).join('\n    '),
    ZONE: front.discovered === true || upstreams.length > 1 ? `zone ${front.name} 64k;` : '',
    ACCESS_LOG: accessLog,
    ASSETS:
      front.serveAssets === undefined
        ? '# The app serves /assets/ itself.'
        : `set $assets_dir "${front.serveAssets}";\n    include startgrid/server/assets.conf;`,
  })
}

/** One line of an `upstream`; templates/keep-alive.conf.template has the reason of `max_fails=0`. */
function formatServer(upstream: Upstream, discovered = false): string {
  const address = formatUpstream(upstream)
  return `server ${'socketPath' in upstream ? `"${address}"` : address}${discovered ? ' resolve' : ''} max_fails=0;`
}

function readTemplate(name: string): string {
  return readFileSync(join(CONF, 'templates', name), 'utf8')
}

/**
 * Started by root, NGINX would switch its workers to nobody or www-data, who cannot enter root's temporary directory or a
 * checkout in /root. This NGINX is a tool of the person who starts it, so it keeps that person's rights.
 */
function userLine(): string[] {
  if (process.getuid?.() !== 0) return []
  const group = process.platform === 'linux' ? 'root' : 'wheel'
  return [`user ${userInfo().username} ${group};`]
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^(?=.)/gm, '    ')
}
