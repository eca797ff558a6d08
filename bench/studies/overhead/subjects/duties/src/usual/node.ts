import { createServer } from 'node:http'
import helmet from 'helmet'
import { pinoHttp } from 'pino-http'
import { log } from './log.ts'
import { genReqId } from './request-id.ts'

const logger = pinoHttp({ genReqId, ...(log && { logger: log }) })
const setSecurityHeaders = helmet()

export const usual = () =>
  createServer((request, response) => {
    logger(request, response)
    setSecurityHeaders(request, response, () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ hello: 'world' }))
    })
  })
