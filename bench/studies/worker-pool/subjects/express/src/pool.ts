import { createApp as createExpress } from '@startgrid/express/app.ts'
import { allowScripts } from '@startgrid/express/middleware/security-headers.ts'
import { ITEMS, parseCount } from '@startgrid/shared/http/count.ts'
import { createProblem, PROBLEM_JSON } from '@startgrid/shared/http/problem.ts'
import type { AppOptions } from '@startgrid/shared/process/lifecycle.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'
import { type ErrorRequestHandler, type Express, Router } from 'express'

/** Read when the routes load, so that a bad setting is one sentence. */
const SETTINGS = readPoolConfig(process.env)

/** @param options.pool by default as the environment says: no other role has these settings */
export function createApp({
  pool = createTaskPool(SETTINGS),
  ...options
}: AppOptions & { pool?: TaskPool }): Express {
  const routes = Router()

  routes.get('/local', (_request, response) => {
    response.json(hello())
  })

  routes.get('/page', (request, response) => {
    const items = parseCount(request.query.items, ITEMS)
    const nonce = allowScripts(response)
    response.type('html').send(page({ items, requestId: request.id, nonce }))
  })

  routes.get('/helloworld', async (_request, response) => {
    response.json(await pool.run('hello'))
  })

  routes.get('/pooled-page', async (request, response) => {
    const items = parseCount(request.query.items, ITEMS)
    const nonce = allowScripts(response)
    response.type('html').send(await pool.run('page', { items, requestId: request.id, nonce }))
  })

  routes.use(refusals)
  return createExpress(options, routes)
}

/** Four parameters make it an error handler. The app's own handler sends what it passes on. */
const refusals: ErrorRequestHandler = (error, request, response, next) => {
  if (!(error instanceof PoolRefusal)) return next(error)
  if (error instanceof TaskTimeout) request.log.error({ err: error }, 'failed')
  response
    .status(503)
    .set('retry-after', String(error.retryAfter))
    .type(PROBLEM_JSON)
    .json(createProblem(503))
}
