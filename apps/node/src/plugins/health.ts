import type { Health } from '#shared/http/health.ts'
import type { Context } from '../context.ts'
import { type Route, route } from '../router.ts'

/** Alive until the process ends, ready until it is told to stop. */
export function health(state: Health): Route[] {
  return [
    route('GET', '/livez', (context) => send(context, true)),
    route('GET', '/readyz', async (context) => send(context, await state.isReady())),
  ]
}

function send(context: Context, passes: boolean): void {
  context.response.setHeader('cache-control', 'no-store')
  context.send(
    passes ? 200 : 503,
    'application/health+json',
    JSON.stringify({ status: passes ? 'pass' : 'fail' }),
  )
}
