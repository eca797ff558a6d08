import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Certificate, CONF, fill, renderTls } from '../src/render/render.ts'

/** The landing page: a server block, and the files that it serves. */

/** How a request reaches the app; there are no other topologies in containers. */
type Topology = 'direct' | 'nginx'

/** An app as a cell of the page's table. */
export interface PageApp {
  readonly framework: string
  readonly role: string
  /** The path of its main route, such as `/_/status`. */
  readonly path: string
  /** The default ports at which it is published. NGINX replaces all but the last three digits. */
  readonly ports: Readonly<Record<Topology, number>>
  /** What NGINX asks: after `proxy_pass http://`. Through NGINX it is the front of that app, so that a request really takes that way. */
  readonly targets: Readonly<Record<Topology, string>>
}

export interface PageOptions {
  /** What to listen on, such as `127.0.0.1:8080`. */
  readonly listen: string
  /** Where it speaks TLS as well, and with which certificate. */
  readonly tls?: Certificate & { readonly listen: string }
  /** Absolute path of the directory that `writePage` filled. */
  readonly root: string
  /** Absolute path of the benchmark's results; it need not exist. */
  readonly results: string
  /** An `access_log` value. */
  readonly accessLog: string
  readonly apps: readonly PageApp[]
}

/** The page's server block, and the maps before it, for the `http` block. */
export function renderPage({ listen, tls, root, results, accessLog, apps }: PageOptions): string {
  const locations = apps.flatMap((app) =>
    waysOf(app).map(
      ({ way, target }) =>
        `location /grid/${way}/ { include startgrid/server/page-app.conf; proxy_pass http://${target}/; }`,
    ),
  )
  return fill(readFileSync(join(CONF, 'templates', 'page.conf.template'), 'utf8'), {
    LISTEN: listen,
    TLS: tls === undefined ? '' : `listen ${tls.listen} ssl;\n    ${renderTls(tls).lines}`,
    ROOT: root,
    RESULTS: results,
    ACCESS_LOG: accessLog,
    APPS: locations.join('\n    '),
  })
}

/** Writes the page's files, with the table of these apps, into a directory that is made if absent. */
export function writePage(directory: string, apps: readonly PageApp[]): void {
  const source = import.meta.dirname
  mkdirSync(directory, { recursive: true })
  for (const file of ['favicon.svg', 'page.css', 'page.js'])
    copyFileSync(join(source, file), join(directory, file))
  const rows = [...Map.groupBy(apps, ({ framework }) => framework)].map(
    ([framework, own]) => `<tr><th scope="row">${framework}</th>${own.map(renderCell).join('')}</tr>`,
  )
  const roles = [...new Set(apps.map(({ role }) => role))]
  const page = fill(readFileSync(join(source, 'index.html'), 'utf8'), {
    APP_COUNT: String(apps.length),
    ROLES: roles.map((role) => `<th scope="col">${role}</th>`).join(''),
    ROWS: rows.join('\n'),
  })
  writeFileSync(join(directory, 'index.html'), page)
}

/** NGINX fills in the host and the first digits of the port (SSI). */
const HOST = '<!--# echo var="host" -->'
const PREFIX = '<!--# echo var="published_prefix" -->'

function renderCell(app: PageApp): string {
  const ways = waysOf(app).map(({ way, label, port }) => {
    const published = PREFIX + String(port).slice(-3)
    return `<p data-way="${way}"><a href="http://${HOST}:${published}${app.path}">${label} ${published}</a><span class="state"></span></p>`
  })
  const name = `${app.framework} ${app.role}`
  return `<td>${ways.join('\n')}<button type="button" aria-label="Responses of ${name}">Responses</button></td>`
}

function waysOf({ framework, role, ports, targets }: PageApp) {
  return (['direct', 'nginx'] as const).map((topology) => ({
    way: `${framework}-${role}/${topology}`,
    label: topology === 'nginx' ? 'NGINX' : topology,
    port: ports[topology],
    target: targets[topology],
  }))
}
