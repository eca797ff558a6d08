/// <reference path="../../qoper8-cp.d.ts" />
import { fileURLToPath } from 'node:url'
import { renderPage } from '@startgrid/shared/page/server.js'
import Fastify from 'fastify'
import { Piscina } from 'piscina'
import { QOper8 } from 'qoper8-cp'

/**
 * `server.ts fastify` or `server.ts bun`: this process responds to `/local`, and to `/helloworld` a pool of `POOL_SIZE` child processes (qoper8-cp).
 * `server.ts pages`: the same with a page that takes milliseconds, and worker threads (piscina).
 */
const size = Number(process.env.POOL_SIZE)

function createPool(): { hello(): Promise<object> } {
  const here = { module: 'worker.ts', path: import.meta.dirname }
  const handlersByMessageType = new Map([['hello', here]])
  const pool = new QOper8({ poolSize: size, maxPoolSize: size, handlersByMessageType, onStartup: here })
  return {
    hello: () =>
      new Promise((resolve, reject) => {
        pool.message({ type: 'hello' }, ({ error, hello }) => {
          if (error === undefined) resolve({ hello })
          else reject(new Error(error))
        })
      }),
  }
}

const SERVERS: Readonly<Record<string, () => Promise<string>>> = {
  fastify() {
    const pool = createPool()
    const app = Fastify()
    app.get('/local', async () => ({ hello: 'world' }))
    app.get('/helloworld', () => pool.hello())
    return app.listen({ host: '127.0.0.1', port: 0 })
  },

  async bun() {
    const pool = createPool()
    const routes = {
      '/local': () => Response.json({ hello: 'world' }),
      '/helloworld': async () => Response.json(await pool.hello()),
    }
    const { port } = Object(globalThis).Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes,
      development: false,
    })
    return `http://127.0.0.1:${port}`
  },

  pages() {
    const filename = fileURLToPath(new URL('page.ts', import.meta.url))
    const pool = new Piscina({ filename, minThreads: size, maxThreads: size })
    const app = Fastify()
    const read = (query: unknown) => ({ items: Number(Object(query).items), requestId: '', nonce: '' })
    app.get('/page', async ({ query }, reply) =>
      reply.type('text/html').send(renderPage('shop', read(query))),
    )
    app.get('/pooled-page', async ({ query }, reply) =>
      reply.type('text/html').send(await pool.run(read(query))),
    )
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
}

const start = SERVERS[process.argv[2] ?? '']
if (start === undefined) throw new Error('Say server.ts fastify, bun or pages.')
const address = await start()
process.removeAllListeners('SIGTERM').once('SIGTERM', () => process.exit()) // qoper8-cp's own prints
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address }))
