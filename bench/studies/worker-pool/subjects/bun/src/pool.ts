import { type App, createBase, type Exchange, type Options, type Route } from '@startgrid/bun/base.ts'
import { HTML, ITEMS, JSON_TEXT, parseCount } from '@startgrid/shared/http/contract.ts'
import { createNonce } from '@startgrid/shared/http/ids.ts'
import { pagePolicy } from '@startgrid/shared/http/security-headers.ts'
import { type Logger, logFailure } from '@startgrid/shared/process/log.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { watchEventLoop } from '@startgrid/worker-pool/event-loop.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'

/** @param options.pool by default as the environment says: no other role has these settings */
export function createApp({ pool = createPool(), ...options }: Options & { pool?: TaskPool }): App {
  const readDelay = watchEventLoop()

  return createBase(options, [
    {
      method: 'GET',
      path: '/local',
      handle: (exchange) => exchange.send(200, JSON_TEXT, JSON.stringify(hello())),
    },

    {
      method: 'GET',
      path: '/page',
      handle(exchange) {
        const items = parseCount(exchange.query('items'), ITEMS)
        const nonce = createNonce()
        const html = page({ items, requestId: exchange.id, nonce })
        return exchange.send(200, HTML, html, { 'content-security-policy': pagePolicy(nonce) })
      },
    },

    {
      method: 'GET',
      path: '/event-loop',
      handle: (exchange) => exchange.send(200, JSON_TEXT, JSON.stringify(readDelay())),
    },

    {
      method: 'GET',
      path: '/helloworld',
      handle: answerRefusals(options.log, async (exchange) =>
        exchange.send(200, JSON_TEXT, JSON.stringify(await pool.run('hello'))),
      ),
    },

    {
      method: 'GET',
      path: '/pooled-page',
      handle: answerRefusals(options.log, async (exchange) => {
        const items = parseCount(exchange.query('items'), ITEMS)
        const nonce = createNonce()
        const html = await pool.run('page', { items, requestId: exchange.id, nonce })
        return exchange.send(200, HTML, html, { 'content-security-policy': pagePolicy(nonce) })
      }),
    },
  ])
}

/** Around a handler; what it throws on is the base's. */
function answerRefusals(log: Logger, handle: (exchange: Exchange) => Promise<Response>): Route['handle'] {
  return async (exchange) => {
    try {
      return await handle(exchange)
    } catch (error) {
      if (!(error instanceof PoolRefusal)) throw error
      if (error instanceof TaskTimeout) logFailure(log, exchange.id, error)
      return exchange.sendProblem(503, { 'retry-after': String(error.retryAfter) })
    }
  }
}

function createPool(): TaskPool {
  return createTaskPool(readPoolConfig(process.env))
}
