import type { Context } from './context.ts'
import { route } from './router.ts'

export const probes = [
  /** Alive until the process ends. */
  route('GET', '/livez', (context) => send(context, true)),

  /** Ready until the process is told to stop, unless a check fails. */
  route('GET', '/readyz', async (context) => send(context, await context.lifecycle.isReady())),
]

function send(context: Context, passes: boolean): void {
  context.response.setHeader('cache-control', 'no-store')
  const body = JSON.stringify({ status: passes ? 'pass' : 'fail' })
  context.send(passes ? 200 : 503, 'application/health+json', body)
}
