import { sendProblem } from '@startgrid/bun/middleware/errors.ts'
import { idOf } from '@startgrid/bun/middleware/request-id.ts'
import { allowScripts } from '@startgrid/bun/middleware/security-headers.ts'
import type { Routes } from '@startgrid/bun/wrap-routes.ts'
import { ITEMS, parseCount } from '@startgrid/shared/http/count.ts'
import { type Logger, logFailure } from '@startgrid/shared/process/log.ts'
import { readPoolConfig } from '@startgrid/worker-pool/config.ts'
import { PoolRefusal, TaskTimeout } from '@startgrid/worker-pool/refusal.ts'
import { createTaskPool, type TaskPool } from '@startgrid/worker-pool/task-pool.ts'
import { hello, page } from '@startgrid/worker-pool/tasks.ts'

interface PoolOptions {
  log: Logger
  /** By default as the environment says. */
  pool?: TaskPool
}

/** Read when the routes load, so that a bad setting is one sentence. */
const SETTINGS = readPoolConfig(process.env)

export function pool({ log, pool = createTaskPool(SETTINGS) }: PoolOptions): Routes {
  return {
    '/local': { GET: () => Response.json(hello()) },

    '/page': {
      GET: (request) => {
        const { nonce, headers } = allowScripts()
        return new Response(page({ items: readItems(request), requestId: idOf(request), nonce }), { headers })
      },
    },

    '/helloworld': {
      GET: refusals(log, async () => Response.json(await pool.run('hello'))),
    },

    '/pooled-page': {
      GET: refusals(log, async (request) => {
        const { nonce, headers } = allowScripts()
        const props = { items: readItems(request), requestId: idOf(request), nonce }
        return new Response(await pool.run('page', props), { headers })
      }),
    },
  }
}

function readItems({ url }: Request): number {
  return parseCount(new URL(url, 'http://localhost').searchParams.toJSON().items, ITEMS)
}

/** Around a handler: 503 where the pool refuses the task. */
function refusals(log: Logger, handle: (request: Request) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    try {
      return await handle(request)
    } catch (error) {
      if (!(error instanceof PoolRefusal)) throw error
      if (error instanceof TaskTimeout) logFailure(log, idOf(request), error)
      return sendProblem(503, { headers: { 'retry-after': String(error.retryAfter) } })
    }
  }
}
