import type { Health } from '#shared/http/health.ts'

/** Alive until the process ends, ready until it is told to stop. */
export function createHealthRoutes(health: Health) {
  const livez = () => sendHealth(true)
  const readyz = async () => sendHealth(await health.isReady())
  return { '/livez': { GET: livez }, '/readyz': { GET: readyz } }
}

function sendHealth(passes: boolean): Response {
  return Response.json(
    { status: passes ? 'pass' : 'fail' },
    {
      status: passes ? 200 : 503,
      headers: { 'cache-control': 'no-store', 'content-type': 'application/health+json' },
    },
  )
}
