import { type Context, Hono } from 'hono'
import type { Health } from '#shared/http/health.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** Its `signal` ends endless streams when the server stops. */
    health: Health
  }
}

/** Alive until the process ends, ready until it is told to stop. */
export function createHealthRoutes(health: Health) {
  return new Hono()
    .get('/livez', (c) => sendHealth(c, true))
    .get('/readyz', async (c) => sendHealth(c, await health.isReady()))
}

function sendHealth(c: Context, passes: boolean) {
  c.header('cache-control', 'no-store')
  return c.json({ status: passes ? 'pass' : 'fail' }, passes ? 200 : 503, {
    'content-type': 'application/health+json',
  })
}
