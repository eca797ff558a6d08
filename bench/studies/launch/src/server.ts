import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer, Server } from 'node:http'
import { addressOf, serverOptions } from '@startgrid/shared/server.ts'
import { readOptions } from '../../start.ts'

/**
 * `APP=express server.ts hello`: an app of the grid as its own server.ts does not start it: on the unix socket `SOCKET`, or in so many `WORKERS`.
 * node:cluster hands them connections in turn; with `REUSE_PORT`, each listens by itself, and the kernel spreads connections.
 */
const { APP, SOCKET, WORKERS, REUSE_PORT } = process.env

async function serve(role: string): Promise<void> {
  const options = readOptions()
  const source = `../../../../apps/${APP}/src`
  const { createApp } = await import(`${source}/app.ts`)
  const { [role]: routes } = await import(`${source}/${role}.ts`)
  const app = createApp(options, routes)
  process.once('SIGTERM', () => process.exit())
  if (APP === 'bun') Object(globalThis).Bun.serve({ ...app, unix: SOCKET })
  else {
    await app.ready?.() // Fastify
    const server: Server =
      app.server ?? (app instanceof Server ? app : createServer(serverOptions(options.config), app))
    const { HOST: host, PORT: port } = options.config
    const reusePort = REUSE_PORT !== undefined
    await once(
      server.listen(SOCKET === undefined ? { host, port, reusePort } : { path: SOCKET }),
      'listening',
    )
    if (SOCKET === undefined) return tell(addressOf(server), server)
  }
  say({ address: `unix:${SOCKET}`, msg: 'listening' })
}

/** A worker tells the primary where it listens, and at its end how many requests it has served. */
function tell(address: string, server: Server): void {
  let requests = 0
  server.on('request', () => requests++)
  process.once('message', () => process.send?.(requests, () => process.exit()))
  process.send?.(address)
}

async function runPrimary(count: number): Promise<void> {
  const first = cluster.fork()
  const address = String(await heardFrom(first))
  const env = REUSE_PORT === undefined ? {} : { PORT: new URL(address).port }
  const workers = [first, ...Array.from({ length: count - 1 }, () => cluster.fork(env))]
  await Promise.all(workers.slice(1).map(heardFrom))
  process.once('SIGTERM', async () => {
    for (const worker of workers) worker.send('stop')
    const served = await Promise.all(workers.map(heardFrom))
    say({ spread: served.map((requests) => ({ served: { requests } })) })
  })
  say({ address, workers: workers.map((worker) => worker.process.pid), msg: 'listening' })
}

const heardFrom = async (worker: Worker): Promise<unknown> => (await once(worker, 'message'))[0]

const say = (line: object) => console.log(JSON.stringify({ pid: process.pid, ...line }))

if (WORKERS !== undefined && cluster.isPrimary) await runPrimary(Number(WORKERS))
else await serve(process.argv[2] ?? '')
