import { createServer } from 'node:http'
import helmet from 'helmet'
import { pinoHttp } from 'pino-http'
import { genReqId } from './request-id.ts'

const log = pinoHttp({ genReqId })
const setSecurityHeaders = helmet()

export const usual = () =>
  createServer((request, response) => {
    log(request, response)
    setSecurityHeaders(request, response, () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ hello: 'world' }))
    })
  })
