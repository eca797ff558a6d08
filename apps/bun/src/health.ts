import type { Lifecycle } from '#shared/lifecycle.ts'

/** Alive until the process ends. Ready until the process is told to stop, unless a check fails. */
export const healthRoutes = (lifecycle: Lifecycle) => ({
  '/livez': { GET: () => send(true) },
  '/readyz': { GET: async () => send(await lifecycle.isReady()) },
})

function send(passes: boolean): Response {
  const status = passes ? 200 : 503
  const headers = { 'cache-control': 'no-store', 'content-type': 'application/health+json' }
  return Response.json({ status: passes ? 'pass' : 'fail' }, { status, headers })
}
