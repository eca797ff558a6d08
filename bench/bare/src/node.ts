import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'

export function bare(): Server {
  return createServer((_request, response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(JSON.stringify({ hello: 'world' }))
  })
}

export function withHeaders(): Server {
  return createServer((_request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    response.setHeader('x-request-id', randomUUID())
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(JSON.stringify({ hello: 'world' }))
  })
}
