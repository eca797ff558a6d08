import type { App } from './apps.ts'
import { serviceName } from './compose.ts'

/** What deploy/kubernetes has beside the names and ports of Docker Compose, which it keeps: `fastify-ssr:3000`, `nginx:4127`. */

/** The namespace of deploy/kubernetes/grid. */
export const NAMESPACE = 'startgrid'

/** The tag of every image in the manifests, unless an overlay changes it. */
export const IMAGE_TAG = 'v1'

/** The headless Service of an app, which NGINX looks up: it has the address of each ready pod. */
export function podsName(app: Pick<App, 'framework' | 'role'>): string {
  return `${serviceName(app)}-pods`
}
