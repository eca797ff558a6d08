import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '../src/render/front.ts'
import { CONF, fill, renderTls } from '../src/render/render.ts'

/** The landing page: a server block, and the files that it serves. */

const SOURCE = import.meta.dirname
/** Sent as they are; `index.html` is a template. */
const FILES = /\.(?:css|js|svg)$/

/** How a request reaches the app; there are no other topologies in containers. */
type Topology = 'direct' | 'nginx'

/** Both ways to an app, as NGINX writes them after `proxy_pass http://`: an address, or an upstream's name. */
export interface PageRoute {
  /** The Compose service, such as `fastify-ssr`. */
  readonly service: string
  readonly direct: string
  /** The front of that app in this NGINX, so that a request really takes that way. */
  readonly nginx: string
}

export interface PageOptions {
  /** What to listen on: `127.0.0.1:8080`, or `8080` for every address of a container. */
  readonly listen: string
  /** Where it speaks TLS as well, and with which certificate. */
  readonly tls?: Certificate & { readonly listen: string }
  /** Absolute path of the directory that `writePage` filled. */
  readonly root: string
  /** Absolute path of the benchmark's results; it need not exist. */
  readonly results: string
  /** An `access_log` value. */
  readonly accessLog: string
  readonly apps: readonly PageRoute[]
  /**
   * Absolute path of the ssr app's hashed files. Set it where the apps have no published ports, as in Kubernetes: the page's links then
   * lead through this NGINX, which serves these files as well.
   */
  readonly assets?: string
}

/** An app as a cell of the page's table. */
export interface PageApp {
  readonly service: string
  readonly framework: string
  readonly role: string
  /** The path of its main route, such as `/_/status`. */
  readonly path: string
  /** The default ports at which it is published; the page replaces all but the last two digits. */
  readonly ports: Readonly<Record<Topology, number>>
}

/**
 * The page's server block, and the maps before it, for the `http` block.
 * @throws {Error} naming what would not stay one word in the configuration
 */
export function renderPage({ listen, tls, root, results, accessLog, apps, assets }: PageOptions): string {
  for (const path of [root, results, assets ?? '/']) check(path, /^\/[A-Za-z0-9._/-]*$/)
  const locations = apps.flatMap((app) => [
    renderLocation(app.service, 'direct', app.direct),
    renderLocation(app.service, 'nginx', app.nginx),
  ])
  return fill(readFileSync(join(CONF, 'templates', 'page.conf.template'), 'utf8'), {
    LISTEN: listen,
    TLS: tls === undefined ? '' : `listen ${tls.listen} ssl;\n    ${renderTls(tls).lines}`,
    ROOT: root,
    RESULTS: results,
    ACCESS_LOG: accessLog,
    APPS: locations.join('\n    '),
    PORT_PREFIX: assets === undefined ? '4' : "''",
    ASSETS: assets === undefined ? 'no-assets' : 'assets',
    ASSETS_DIR: assets ?? '',
  })
}

function renderLocation(service: string, topology: Topology, target: string): string {
  check(service, /^[a-z0-9-]+$/)
  check(target, /^[A-Za-z0-9.:[\]-]+$/)
  const path = `/grid/${service}/${topology}/`
  return `location ${path} { include startgrid/server/page-app.conf; proxy_pass http://${target}/; }`
}

function check(value: string, pattern: RegExp): void {
  if (!pattern.test(value))
    throw new Error(`The landing page cannot be served with ${JSON.stringify(value)}.`)
}

/** Writes the page's files, with the table of these apps, into a directory that is made if absent. */
export function writePage(directory: string, apps: readonly PageApp[]): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'index.html'), renderIndex(apps))
  for (const file of readdirSync(SOURCE).filter((name) => FILES.test(name)))
    copyFileSync(join(SOURCE, file), join(directory, file))
}

/** The document. It has every link without a script. */
function renderIndex(apps: readonly PageApp[]): string {
  const roles = [...new Set(apps.map(({ role }) => role))]
  const frameworks = [...new Set(apps.map(({ framework }) => framework))]
  const rows = frameworks.map((framework) => {
    const cells = roles.map((role) =>
      renderCell(apps.find((app) => app.framework === framework && app.role === role)),
    )
    return `<tr data-framework="${framework}"><th scope="row">${framework}</th>${cells.join('')}\n</tr>`
  })
  return fill(readFileSync(join(SOURCE, 'index.html'), 'utf8'), {
    APP_COUNT: String(apps.length),
    ROLES: roles.map(renderHeading).join(''),
    ROWS: rows.join('\n'),
  })
}

function renderHeading(role: string): string {
  return `<th scope="col" data-role="${role}">${role} <small hidden></small></th>`
}

function renderCell(app: PageApp | undefined): string {
  if (app === undefined) return '\n<td></td>'
  const { service, framework, role, path } = app
  return `
<td data-service="${service}" data-role="${role}" data-path="${path}">
${renderWay(app, 'direct', 'direct')}
${renderWay(app, 'nginx', 'NGINX')}
<button type="button" hidden>Headers<span class="vh"> of ${framework} ${role}</span></button>
</td>`
}

function renderWay({ framework, role, path, ports }: PageApp, topology: Topology, label: string): string {
  const port = ports[topology]
  const name = `<span class="vh">${framework} ${role} </span>${label} <span class="port">${port}</span>`
  return `<p data-topology="${topology}"><span class="state" hidden></span> <a href="http://localhost:${port}${path}">${name}</a></p>`
}
