import type { RequestHandler, Response } from 'express'

/** Alive until the process ends. */
export const livez: RequestHandler = (_request, response) => {
  send(response, true)
}

/** Ready until the process is told to stop, unless a check fails. */
export const readyz: RequestHandler = async (request, response) => {
  send(response, await request.app.locals.lifecycle.isReady())
}

function send(response: Response, passes: boolean): void {
  response
    .status(passes ? 200 : 503)
    .set('cache-control', 'no-store')
    .type('application/health+json')
    .json({ status: passes ? 'pass' : 'fail' })
}
