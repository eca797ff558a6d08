import { type App, createBase, get, type Options, sendProblem } from '@startgrid/express/base.ts'
import { HTML, ITEMS, parseCount } from '@startgrid/shared/http/contract.ts'
import { createNonce } from '@startgrid/shared/http/ids.ts'
import { pagePolicy } from '@startgrid/shared/http/security-headers.ts'
import { type Logger, logFailure } from '@startgrid/shared/process/log.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { watchEventLoop } from '@startgrid/worker-pool/event-loop.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'
import type { ErrorRequestHandler } from 'express'

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
  return createTaskPool(readPoolConfig(process.env))
}
