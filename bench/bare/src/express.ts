import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import express from 'express'

export function bare(): Server {
  const app = express()
  app.get('/json', (_request, response) => {
    response.json({ hello: 'world' })
  })
  return createServer(app)
}

export function withHeaders(): Server {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/json', (_request, response) => {
    response.set(SECURITY_HEADERS).set('x-request-id', randomUUID())
    response.json({ hello: 'world' })
  })
  return createServer(app)
}
