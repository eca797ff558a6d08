import { type Response, Router } from 'express'
import { HEALTH_JSON } from '#shared/http/contract.ts'
import type { Health } from '#shared/http/health.ts'

declare global {
  namespace Express {
    /** Of `app.locals`. */
    interface Locals {
      /** Its `signal` ends endless streams when the server stops. */
      health: Health
    }
  }
}

/** Alive until the process ends, ready until it is told to stop. */
export function health(state: Health): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/livez', (_request, response) => send(response, true))
  router.get('/readyz', async (_request, response) => send(response, await state.isReady()))
  return router
}

function send(response: Response, passes: boolean): void {
  response
    .status(passes ? 200 : 503)
    .set('cache-control', 'no-store')
    .type(HEALTH_JSON)
    .json({ status: passes ? 'pass' : 'fail' })
}
