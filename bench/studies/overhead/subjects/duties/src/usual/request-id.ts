import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** As the README of pino-http has it. */
export function genReqId(request: IncomingMessage, response: ServerResponse) {
  const existingId = request.id ?? request.headers['x-request-id']
  if (existingId) return existingId
  const id = randomUUID()
  response.setHeader('X-Request-Id', id)
  return id
}
