import type { RequestHandler } from 'express'

declare global {
  namespace Express {
    interface Request {
      /** The inbound x-request-id, or the one that `protect` chose. Every response and every log line contains it. */
      id: string
    }
  }
}

export const requestId: RequestHandler = (request, _response, next) => {
  request.id = request.get('x-request-id') ?? ''
  next()
}
