import type { ErrorRequestHandler } from 'express'
import { Piscina } from 'piscina'
import { QOper8 } from 'qoper8-cp'
import { HTML, ITEMS, pagePolicy, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { readPoolConfig } from '#shared/pool/config.ts'
import { watchEventLoop } from '#shared/pool/event-loop.ts'
import { PoolRefusal, TaskTimeout } from '#shared/pool/refusal.ts'
import { createTaskPool, type TaskPool } from '#shared/pool/task-pool.ts'
import { hello, page } from '#shared/pool/tasks.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'
import { type App, createBase, get, type Options, sendProblem } from './base.ts'

/** @param options.pool by default as the environment says: no other role has these settings */
export function createApp({ pool = createPool(), ...options }: Options & { pool?: TaskPool }): App {
  const readDelay = watchEventLoop()

  return createBase(options, (app) => {
    get(app, '/local', (_request, response) => response.json(hello()))

    get(app, '/page', (request, response) => {
      const items = parseCount(request.query.items, ITEMS)
      const nonce = createNonce()
      response
        .set('content-security-policy', pagePolicy(nonce))
        .type(HTML)
        .send(page({ items, requestId: response.locals.id, nonce }))
    })

    get(app, '/event-loop', (_request, response) => response.json(readDelay()))

    get(app, '/helloworld', async (_request, response) => {
      response.json(await pool.run('hello'))
    })

    get(app, '/pooled-page', async (request, response) => {
      const items = parseCount(request.query.items, ITEMS)
      const nonce = createNonce()
      const html = await pool.run('page', { items, requestId: response.locals.id, nonce })
      response.set('content-security-policy', pagePolicy(nonce)).type(HTML).send(html)
    })

    app.use(createRefusalHandler(options.log))
  })
}

/** Four parameters make it an error handler; what it passes on is the base's. */
function createRefusalHandler(log: Logger): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (!(error instanceof PoolRefusal)) return next(error)
    if (error instanceof TaskTimeout) logFailure(log, response.locals.id, error)
    sendProblem(response.set('retry-after', String(error.retryAfter)), 503)
  }
}

function createPool(): TaskPool {
  return createTaskPool(readPoolConfig(process.env), { Piscina, QOper8 })
}
