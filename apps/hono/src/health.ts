import { type Context, Hono } from 'hono'

export const probes = new Hono()
  /** Alive until the process ends. */
  .get('/livez', (c) => send(c, true))
  /** Ready until the process is told to stop, unless a check fails. */
  .get('/readyz', async (c) => send(c, await c.get('lifecycle').isReady()))

function send(c: Context, passes: boolean) {
  c.header('cache-control', 'no-store')
  return c.json({ status: passes ? 'pass' : 'fail' }, passes ? 200 : 503, {
    'content-type': 'application/health+json',
  })
}
