import { Piscina } from 'piscina'
import { QOper8 } from 'qoper8-cp'
import { HTML, ITEMS, JSON_TEXT, pagePolicy, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { readPoolConfig } from '#shared/pool/config.ts'
import { watchEventLoop } from '#shared/pool/event-loop.ts'
import { PoolRefusal, TaskTimeout } from '#shared/pool/refusal.ts'
import { createTaskPool, type TaskPool } from '#shared/pool/task-pool.ts'
import { hello, page } from '#shared/pool/tasks.ts'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Options, sendProblem } from './base.ts'

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
  return createTaskPool(readPoolConfig(process.env), { Piscina, QOper8 })
}
