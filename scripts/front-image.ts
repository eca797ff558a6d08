import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { APP_PORT, addressInside, PAGE_PORT, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { podsName } from '@startgrid/grid/kubernetes.ts'
import type { Address } from '@startgrid/nginx/address.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { type PageOptions, renderPage, writePage } from '@startgrid/nginx/page.ts'
import { CONF, renderFronts, renderNginx } from '@startgrid/nginx/render.ts'

/**
 * `node front-image.ts DIRECTORY`, when the image of the NGINX in front is built: its configurations for Compose and for Kubernetes, from
 * the files that the native mode uses, and the landing page.
 */

/** The paths of docker/Dockerfile. */
const ASSETS = '/srv/assets'
const PAGE = '/srv/page'
const RESULTS = '/srv/results'

/** What `nginx/conf/start.sh` writes. */
const CERTIFICATE = { certificate: '/tmp/edge/fullchain.pem', key: '/tmp/edge/privkey.pem' }

/** The workload of each role, as the page shows it. */
const PATHS = { hello: '/', ssr: '/', status: '/_/status' } as const

const ACCESS_LOG = '/dev/stdout startgrid if=$logged'

function main([directory]: string[]): void {
  if (directory === undefined) throw new Error('Say where to write: node front-image.ts DIRECTORY.')
  mkdirSync(join(directory, 'templates'), { recursive: true })
  writeFileSync(
    join(directory, 'nginx.conf'),
    renderMain(
      'include startgrid/container.conf;',
      renderGridPage({ tls: { ...CERTIFICATE, listen: '8443' } }),
      renderGridFronts((app) => ({ upstream: addressInside(app, 'direct') })),
    ),
  )
  writeFileSync(join(directory, 'kubernetes.conf'), renderMain('include conf.d/*.conf;'))
  writeFileSync(join(directory, 'templates/grid.conf.template'), renderKubernetes())
  writePage(
    join(directory, 'page'),
    APPS.map((app) => ({
      service: serviceName(app),
      framework: app.framework,
      role: app.role,
      path: PATHS[app.role],
      ports: { direct: publishedPort(app, 'direct'), nginx: publishedPort(app, 'nginx') },
    })),
  )
}

/** @param blocks the contents of the http block after the common part */
function renderMain(...blocks: string[]): string {
  return renderNginx({
    dir: '/tmp',
    workers: 1,
    contained: true,
    // An absent app would cause a line every second, and more while somebody looks at the landing page. The access log has all requests
    // without a response.
    errorLevel: 'crit',
    keepaliveMinTimeout: true,
    trustedProxies: 'include /tmp/edge/trusted-proxies.conf;',
    blocks,
    fronts: [],
  })
}

/**
 * For the image's entrypoint, which writes it to conf.d when a pod starts, because only a pod knows its namespace: $SERVICES, such as
 * `startgrid.svc.cluster.local`. NGINX uses no search list for names.
 */
function renderKubernetes(): string {
  const settings = readFileSync(join(CONF, 'templates/kubernetes.conf.template'), 'utf8')
  const inServices = (host: string): Address => ({ host: `${host}.\${SERVICES}`, port: APP_PORT })
  const fronts = renderGridFronts((app) => ({
    upstream: inServices(podsName(app)),
    fallback: inServices(serviceName(app)),
  }))
  return [settings, renderGridPage({ assets: ASSETS }), fronts].join('\n')
}

function renderGridPage(options: Pick<PageOptions, 'assets' | 'tls'>): string {
  return renderPage({
    ...options,
    listen: String(PAGE_PORT),
    root: PAGE,
    results: RESULTS,
    accessLog: ACCESS_LOG,
    apps: APPS.map((app) => ({
      service: serviceName(app),
      direct: serviceName(app),
      nginx: `127.0.0.1:${publishedPort(app, 'nginx')}`,
    })),
  })
}

function renderGridFronts(upstreamsOf: (app: App) => Pick<Front, 'upstream' | 'fallback'>): string {
  const fronts = APPS.map(
    (app): Front => ({
      name: serviceName(app),
      topology: 'nginx',
      listen: { host: '0.0.0.0', port: publishedPort(app, 'nginx') },
      ...upstreamsOf(app),
      discovered: true,
      ...(app.role === 'ssr' && { serveAssets: ASSETS }),
    }),
  )
  return renderFronts(fronts, ACCESS_LOG)
}

main(process.argv.slice(2))
