import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { APP_PORT, PAGE_PORT, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { formatListen } from '@startgrid/nginx/address.ts'
import { renderPage, writePage } from '@startgrid/nginx/page.ts'
import { type Front, renderNginx } from '@startgrid/nginx/render.ts'

/**
 * `node front-image.ts DIRECTORY`, when the image of the NGINX in front is built: its configurations for Compose and for a pod of
 * Kubernetes, from the files that the native mode uses, and the landing page.
 */

/** The paths of docker/Dockerfile. */
const ASSETS = '/srv/assets'
const PAGE = '/srv/page'
const RESULTS = '/srv/results'

/** What `nginx/conf/start.sh` writes. */
const CERTIFICATE = { certificate: '/tmp/edge/fullchain.pem', key: '/tmp/edge/privkey.pem' }

/** The workload of each role, as the page shows it. */
const PATHS = { hello: '/', ssr: '/', status: '/_/status' } as const

const PAGE_APPS = APPS.map((app) => ({
  framework: app.framework,
  role: app.role,
  path: PATHS[app.role],
  ports: { direct: publishedPort(app, 'direct'), nginx: publishedPort(app, 'nginx') },
  targets: { direct: serviceName(app), nginx: `127.0.0.1:${publishedPort(app, 'nginx')}` },
}))

/** In the pod of one app: deploy/kubernetes/components/nginx. */
const SIDECAR: Front = {
  name: 'app',
  topology: 'nginx',
  listen: { host: '::', port: PAGE_PORT },
  upstream: { host: '127.0.0.1', port: APP_PORT },
}

/** Docker's. It allows caching for 600 s, but a restarted service has a new address at once. */
const NAME_SERVER = 'resolver 127.0.0.11 valid=1s ipv6=off;\nresolver_timeout 2s;'

const ACCESS_LOG = '/dev/stdout startgrid if=$logged'

function main([directory]: string[]): void {
  if (directory === undefined) throw new Error('Say where to write: node front-image.ts DIRECTORY.')
  mkdirSync(directory, { recursive: true })
  const grid = render(APPS.map(frontOf), [NAME_SERVER, renderGridPage()])
  writeFileSync(join(directory, 'nginx.conf'), grid)
  writeFileSync(join(directory, 'sidecar.conf'), render([SIDECAR]))
  writePage(join(directory, 'page'), PAGE_APPS)
}

/** @param blocks more for the http block, before the fronts */
function render(fronts: readonly Front[], blocks: readonly string[] = []): string {
  return renderNginx({
    dir: '/tmp',
    workers: 1,
    contained: true,
    // An absent app would cause a line every second, and more while somebody looks at the landing page. The access log has all requests
    // without a response.
    errorLevel: 'crit',
    keepaliveMinTimeout: true,
    trustedProxies: 'include /tmp/edge/trusted-proxies.conf;',
    accessLog: ACCESS_LOG,
    blocks,
    fronts,
  })
}

function renderGridPage(): string {
  return renderPage({
    tls: { ...CERTIFICATE, listen: formatListen({ host: '::', port: 8443 }) },
    listen: formatListen({ host: '::', port: PAGE_PORT }),
    root: PAGE,
    results: RESULTS,
    accessLog: ACCESS_LOG,
    apps: PAGE_APPS,
  })
}

function frontOf(app: App): Front {
  return {
    name: serviceName(app),
    topology: 'nginx',
    listen: { host: '::', port: publishedPort(app, 'nginx') },
    upstream: { host: serviceName(app), port: APP_PORT },
    discovered: true,
    ...(app.role === 'ssr' && { serveAssets: ASSETS }),
  }
}

main(process.argv.slice(2))
