import { createApp as createFastify } from '@startgrid/fastify/app.ts'
import { ITEMS, parseCount } from '@startgrid/shared/http/count.ts'
import { createProblem, PROBLEM_JSON } from '@startgrid/shared/http/problem.ts'
import type { AppOptions } from '@startgrid/shared/process/lifecycle.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'

interface Query {
  items?: string
}

const JSON_TEXT = 'application/json; charset=utf-8'
const HTML = 'text/html; charset=utf-8'

/** Read when the routes load, so that a bad setting is one sentence. */
const SETTINGS = readPoolConfig(process.env)

/** @param options.pool by default as the environment says: no other role has these settings */
export function createApp({ pool = createTaskPool(SETTINGS), ...options }: AppOptions & { pool?: TaskPool }) {
  return createFastify(options, async (app) => {
    app.get('/local', (_request, reply) => reply.type(JSON_TEXT).send(hello()))

    app.get<{ Querystring: Query }>('/page', (request, reply) => {
      const items = parseCount(request.query.items, ITEMS)
      const nonce = reply.allowScripts()
      return reply.type(HTML).send(page({ items, requestId: request.id, nonce }))
    })

    app.register(async (pooled) => {
      pooled.setErrorHandler((error, request, reply) => {
        if (!(error instanceof PoolRefusal)) throw error // for the handler of the app
        if (error instanceof TaskTimeout) request.log.error({ err: error }, 'failed')
        reply.code(503).header('retry-after', error.retryAfter)
        return reply.type(PROBLEM_JSON).send(createProblem(503))
      })

      pooled.get('/helloworld', async (_request, reply) =>
        reply.type(JSON_TEXT).send(await pool.run('hello')),
      )

      pooled.get<{ Querystring: Query }>('/pooled-page', async (request, reply) => {
        const items = parseCount(request.query.items, ITEMS)
        const nonce = reply.allowScripts()
        return reply.type(HTML).send(await pool.run('page', { items, requestId: request.id, nonce }))
      })
    })

    // Every task belongs to a request, and those have their responses by now.
    app.addHook('onClose', () => pool.close())
  })
}
