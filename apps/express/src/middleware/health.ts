import type { RequestHandler, Response } from 'express'
import { HEALTH_JSON } from '#shared/http/contract.ts'
import { type Health, isProbe } from '#shared/http/health.ts'

declare global {
  namespace Express {
    /** Of `app.locals`. */
    interface Locals {
      /** Its `signal` ends endless streams when the server stops. */
      health: Health
    }
  }
}

/** Alive until the process ends, ready until it is told to stop. It is not a Router, because all requests pass through it. */
export function health(state: Health): RequestHandler {
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return isRead && isProbe(request.path) ? respond(request.path, response) : next()
  }

  async function respond(path: string, response: Response): Promise<void> {
    send(response, path === '/livez' || (await state.isReady()))
  }
}

function send(response: Response, passes: boolean): void {
  response
    .status(passes ? 200 : 503)
    .set('cache-control', 'no-store')
    .type(HEALTH_JSON)
    .json({ status: passes ? 'pass' : 'fail' })
}
