import { type App, createBase, type Options, sendProblem } from '@startgrid/fastify/base.ts'
import { HTML, ITEMS, JSON_TEXT, pagePolicy, parseCount } from '@startgrid/shared/http/contract.ts'
import { createNonce } from '@startgrid/shared/http/ids.ts'
import { logFailure } from '@startgrid/shared/process/log.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { watchEventLoop } from '@startgrid/worker-pool/event-loop.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'

interface Query {
  items?: string
}

/** @param options.pool by default as the environment says: no other role has these settings */
export function createApp({ pool = createPool(), ...options }: Options & { pool?: TaskPool }): App {
  const app = createBase(options)
  const readDelay = watchEventLoop()

  app.get('/local', (_request, reply) => reply.type(JSON_TEXT).send(hello()))

  app.get<{ Querystring: Query }>('/page', (request, reply) => {
    const items = parseCount(request.query.items, ITEMS)
    const nonce = createNonce()
    return reply
      .header('content-security-policy', pagePolicy(nonce))
      .type(HTML)
      .send(page({ items, requestId: request.id, nonce }))
  })

  app.get('/event-loop', (_request, reply) => reply.type(JSON_TEXT).send(readDelay()))

  app.register(async (pooled) => {
    pooled.setErrorHandler((error, request, reply) => {
      if (!(error instanceof PoolRefusal)) throw error // for the handler of the base
      if (error instanceof TaskTimeout) logFailure(options.log, request.id, error)
      return sendProblem(reply.header('retry-after', error.retryAfter), 503)
    })

    pooled.get('/helloworld', async (_request, reply) => reply.type(JSON_TEXT).send(await pool.run('hello')))

    pooled.get<{ Querystring: Query }>('/pooled-page', async (request, reply) => {
      const items = parseCount(request.query.items, ITEMS)
      const nonce = createNonce()
      const html = await pool.run('page', { items, requestId: request.id, nonce })
      return reply.header('content-security-policy', pagePolicy(nonce)).type(HTML).send(html)
    })
  })

  // Every task belongs to a request, and those are answered by now.
  app.addHook('onClose', () => pool.close())
  return app
}

function createPool(): TaskPool {
  return createTaskPool(readPoolConfig(process.env))
}
