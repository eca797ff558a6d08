import { createServer } from 'node:http'
import express from 'express'
import helmet from 'helmet'
import { pinoHttp } from 'pino-http'
import { log } from './log.ts'
import { genReqId } from './request-id.ts'

const app = express()
app.use(pinoHttp({ genReqId, ...(log && { logger: log }) }))
app.use(helmet())
app.use(express.json())
app.get('/json', (_request, response) => {
  response.json({ hello: 'world' })
})

export const usual = () => createServer(app)
