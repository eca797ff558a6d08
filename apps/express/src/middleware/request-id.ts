import type { RequestHandler } from 'express'
import { requestId } from '#shared/request-id.ts'

declare global {
  namespace Express {
    interface Request {
      id: string
    }
  }
}

export const setRequestId: RequestHandler = (request, response, next) => {
  request.id = requestId(request.get('x-request-id'))
  response.set('x-request-id', request.id)
  next()
}
