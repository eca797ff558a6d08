import type { RequestHandler } from 'express'
import { requestId as chooseId } from '#shared/http/ids.ts'

declare global {
  namespace Express {
    interface Request {
      /** The inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
      id: string
    }
  }
}

export const requestId: RequestHandler = (request, response, next) => {
  request.id = chooseId(request.headers['x-request-id'])
  response.setHeader('x-request-id', request.id)
  next()
}
