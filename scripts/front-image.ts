import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressInside, PAGE_PORT, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { APPS, type App } from '@startgrid/grid/matrix.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { renderPage, writePage } from '@startgrid/nginx/page.ts'
import { renderNginx } from '@startgrid/nginx/render.ts'

/**
 * `node front-image.ts DIRECTORY`, when the image of the NGINX in front is built: its configuration, from the files that the
 * native mode uses, and the landing page.
 */

/** The paths of docker/nginx.Dockerfile. */
const ASSETS = '/srv/assets'
const PAGE = '/srv/page'
const RESULTS = '/srv/results'

/** The workload of each role, as the page shows it. */
const PATHS = { hello: '/', ssr: '/', status: '/_/status' } as const

function main([directory]: string[]): void {
  if (directory === undefined) throw new Error('Say where to write: node front-image.ts DIRECTORY.')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'nginx.conf'), renderGrid())
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

function renderGrid(): string {
  const accessLog = '/dev/stdout startgrid if=$logged'
  const page = renderPage({
    listen: String(PAGE_PORT),
    root: PAGE,
    results: RESULTS,
    accessLog,
    apps: APPS.map((app) => ({
      service: serviceName(app),
      direct: serviceName(app),
      nginx: `127.0.0.1:${publishedPort(app, 'nginx')}`,
    })),
  })
  return renderNginx({
    dir: '/tmp',
    workers: 1,
    contained: true,
    // An absent app would cause a line every second, and more while somebody looks at the landing page. The access log has all requests
    // without a response.
    errorLevel: 'crit',
    keepaliveMinTimeout: true,
    accessLog,
    blocks: ['include startgrid/container.conf;', page],
    fronts: APPS.map(createFront),
  })
}

function createFront(app: App): Front {
  return {
    name: serviceName(app),
    topology: 'nginx',
    listen: { host: '0.0.0.0', port: publishedPort(app, 'nginx') },
    upstream: addressInside(app, 'direct'),
    discovered: true,
    ...(app.role === 'ssr' && { serveAssets: ASSETS }),
  }
}

main(process.argv.slice(2))
