import type { App } from '@startgrid/grid/apps.ts'
import { addressInside, FRONT_SERVICE, PAGE_PORT } from '@startgrid/grid/compose.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { renderNginx } from '@startgrid/nginx/render.ts'
import { hostOf } from './project.ts'

/**
 * The NGINX in front of a heat: fronts for its apps alone, as natively, so that a twin has one too. The image's own configuration has one
 * for each app and none for twins.
 */

/** Where the image's health is asked for, and what tells the generator's ceiling. */
export const CEILING = { host: FRONT_SERVICE, port: PAGE_PORT } as const

/** Where docker/nginx.Dockerfile puts the page's files. */
const ASSETS = '/srv/assets'

/** Inside the Compose network. @param index of the app in its heat */
export function frontAddress(index: number): { host: string; port: number } {
  return { host: FRONT_SERVICE, port: PAGE_PORT + 1 + index }
}

/** The whole configuration, with one front per app in this order and one that responds to `/ceiling` alone. */
export function renderFronts(apps: readonly App[]): string {
  const ceiling: Front = {
    name: 'ceiling',
    topology: 'nginx',
    listen: { host: '0.0.0.0', port: CEILING.port },
    upstream: { host: '127.0.0.1', port: 1 }, // never asked
  }
  return renderNginx({
    dir: '/tmp',
    workers: 1,
    contained: true,
    keepaliveMinTimeout: true,
    accessLog: 'off',
    blocks: ['include startgrid/container.conf;'],
    fronts: [ceiling, ...apps.map(createFront)],
  })
}

function createFront(app: App, index: number): Front {
  return {
    name: hostOf(app),
    topology: 'nginx',
    listen: { host: '0.0.0.0', port: frontAddress(index).port },
    upstream: addressInside(app, 'direct', hostOf(app)),
    discovered: true,
    ...(app.role === 'ssr' && { serveAssets: ASSETS }),
  }
}
