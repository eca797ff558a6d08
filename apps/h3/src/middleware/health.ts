import { H3, type H3Event } from 'h3'
import type { Health } from '#shared/http/health.ts'

const meta = { isProbe: true } // has no line in the access log

/** Alive until the process ends, ready until it is told to stop. */
export function createHealthRoutes(health: Health): H3 {
  return new H3()
    .get('/livez', (event) => sendHealth(event, true), { meta })
    .get('/readyz', async (event) => sendHealth(event, await health.isReady()), { meta })
}

function sendHealth(event: H3Event, passes: boolean) {
  event.res.status = passes ? 200 : 503
  event.res.headers.set('cache-control', 'no-store')
  event.res.headers.set('content-type', 'application/health+json')
  return { status: passes ? 'pass' : 'fail' }
}
