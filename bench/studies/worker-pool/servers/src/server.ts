import Fastify from 'fastify'
// @ts-expect-error: it has no types
import { QOper8 } from 'qoper8-cp'

/** `server.ts fastify` or `server.ts bun`: the source's two servers. `/local` is this process, `/helloworld` a pool of `POOL_SIZE` child processes. */
const poolSize = Number(process.env.POOL_SIZE)
const here = { module: 'worker.ts', path: import.meta.dirname }
const pool = new QOper8({ poolSize, handlersByMessageType: new Map([['hello', here]]), onStartup: here })

const askPool = () =>
  new Promise<object>((resolve, reject) => {
    pool.message({ type: 'hello' }, ({ error, hello }: Record<string, unknown>) => {
      if (error === undefined) resolve({ hello })
      else reject(new Error(String(error)))
    })
  })

const SERVERS: Readonly<Record<string, () => Promise<string>>> = {
  fastify() {
    const app = Fastify()
    app.get('/local', async () => ({ hello: 'world' }))
    app.get('/helloworld', askPool)
    return app.listen({ host: '127.0.0.1', port: 0 })
  },

  async bun() {
    const { port } = Object(globalThis).Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: {
        '/local': () => Response.json({ hello: 'world' }),
        '/helloworld': async () => Response.json(await askPool()),
      },
      development: false,
    })
    return `http://127.0.0.1:${port}`
  },
}

const start = SERVERS[process.argv[2] ?? '']
if (start === undefined) throw new Error('Say server.ts fastify or bun.')
const address = await start()
process.removeAllListeners('SIGTERM').once('SIGTERM', () => process.exit()) // qoper8-cp's own prints
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address }))
