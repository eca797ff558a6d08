import { H3, type H3Event } from 'h3'

const meta = { isProbe: true } // has no line in the access log

export const probes = new H3()
  /** Alive until the process ends. */
  .get('/livez', (event) => send(event, true), { meta })
  /** Ready until the process is told to stop, unless a check fails. */
  .get('/readyz', async (event) => send(event, await event.context.lifecycle.isReady()), { meta })

function send({ res }: H3Event, passes: boolean) {
  res.status = passes ? 200 : 503
  res.headers.set('cache-control', 'no-store')
  res.headers.set('content-type', 'application/health+json')
  return { status: passes ? 'pass' : 'fail' }
}
