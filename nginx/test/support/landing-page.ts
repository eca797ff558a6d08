import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PageApp, type PageRoute, renderPage, writePage } from '../../page/render.ts'
import type { Nginx } from '../../src/find/find.ts'
import { type Address, claimPort, formatAddress } from '../../src/render/address.ts'
import { renderHttp, renderMain, renderTemporaryPaths } from '../../src/render/render.ts'
import { type Instance, startNginx } from '../../src/run/instance.ts'

/** The landing page in front of two frameworks' stand-ins. */

const LOOPBACK = { host: '127.0.0.1', port: 0 }
const PATHS = { hello: '/json', ssr: '/', status: '/_/status' }

export const APPS: readonly PageApp[] = ['fastify', 'koa'].flatMap((framework, row) =>
  Object.entries(PATHS).map(([role, path], column) => ({
    service: `${framework}-${role}`,
    framework,
    role,
    path,
    ports: { direct: 4121 + 20 * row + column, nginx: 4126 + 20 * row + column },
  })),
)

/** A stand-in for an app. */
export interface Stub {
  readonly address: Address
  /** What `/readyz` does. */
  state: 'pass' | 'fail' | 'hang'
  /** Requests for anything else, oldest first. */
  readonly seen: { url: string; headers: IncomingHttpHeaders }[]
  start(): Promise<void>
  /** Nothing listens on its port until the next `start`. */
  stop(): Promise<void>
  /** As at first: it runs, is ready, and has seen nothing. */
  reset(): Promise<void>
}

/** Everything that one test file needs. */
export interface FrontPage {
  readonly address: Address
  readonly origin: string
  /** Empty at first, and absent until a test makes it. */
  readonly results: string
  stub(service: string): Stub
  /** The error log of the NGINX that serves the page. */
  errors(): string
  /** The access log of the fronts. */
  frontLog: () => string
  startNginx(): Promise<void>
  stopNginx(): Promise<void>
  /** Everything runs and is ready, as at first. */
  reset(): Promise<void>
  close(): Promise<void>
}

export async function startFrontPage(nginx: Nginx): Promise<FrontPage> {
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-page-'))
  const results = join(directory, 'results')
  writePage(join(directory, 'page'), APPS)
  const log = join(directory, 'fronts.log')
  const stubs = new Map<string, Stub>()
  for (const { service } of APPS) stubs.set(service, await createStub())
  const fronts = await startFronts(nginx, stubs, log)
  const routes = [...stubs].map(([service, { address }], index) => ({
    service,
    direct: formatAddress(address),
    nginx: formatAddress(fronts.addresses[index] ?? LOOPBACK),
  }))
  const address = { ...LOOPBACK, port: await claimPort(LOOPBACK) }
  let page: Instance | undefined

  function stub(service: string): Stub {
    const found = stubs.get(service)
    if (found === undefined) throw new Error(`There is no stand-in ${service}.`)
    return found
  }

  async function start(): Promise<void> {
    page ??= await startPage(nginx, address, directory, routes)
  }

  async function stop(): Promise<void> {
    await page?.stop()
    page = undefined
  }

  async function reset(): Promise<void> {
    await start()
    await rm(results, { recursive: true, force: true })
    for (const stub of stubs.values()) await stub.reset()
  }

  async function close(): Promise<void> {
    await stop()
    await fronts.stop()
    for (const stub of stubs.values()) await stub.stop()
    await rm(directory, { recursive: true })
  }

  await reset()
  const origin = `http://${formatAddress(address)}`
  const errors = () => page?.errors() ?? ''
  const frontLog = () => readFileSync(log, 'utf8')
  return {
    address,
    origin,
    results,
    stub,
    errors,
    frontLog,
    startNginx: start,
    stopNginx: stop,
    reset,
    close,
  }
}

/** A front for each stand-in, in the same order. */
function startFronts(nginx: Nginx, stubs: ReadonlyMap<string, Stub>, accessLog: string): Promise<Instance> {
  return startNginx(nginx, {
    accessLog,
    fronts: [...stubs].map(([name, { address }]) => ({
      name,
      topology: 'nginx',
      listen: LOOPBACK,
      upstream: address,
    })),
  })
}

function startPage(
  nginx: Nginx,
  address: Address,
  directory: string,
  apps: readonly PageRoute[],
): Promise<Instance> {
  const page = renderPage({
    listen: formatAddress(address),
    root: join(directory, 'page'),
    results: join(directory, 'results'),
    accessLog: 'off',
    apps,
  })
  return startNginx(nginx, {
    listen: [address],
    probe: '/ceiling',
    config: (place) =>
      [renderMain(place), 'http {', renderTemporaryPaths(place.dir), renderHttp(), page, '}'].join('\n'),
  })
}

async function createStub(): Promise<Stub> {
  const server = createServer((request, response) => respond(stub, request, response))
  // A port that is only looked up would be free for others until the first `start`.
  await listen(server, LOOPBACK.port)
  const { port } = server.address() as AddressInfo
  const stub: Stub = {
    address: { ...LOOPBACK, port },
    state: 'pass',
    seen: [],
    start: () => listen(server, port),
    stop: () => close(server),
    async reset() {
      stub.state = 'pass'
      stub.seen.length = 0
      await stub.start()
    },
  }
  return stub
}

function respond(stub: Stub, { url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (!url.startsWith('/readyz')) {
    stub.seen.push({ url, headers })
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-app': 'a stand-in' })
    response.end(`<b>${url}</b>`.padEnd(1_000, '.'))
  } else if (stub.state !== 'hang') {
    response.writeHead(stub.state === 'pass' ? 200 : 503, { 'content-type': 'application/health+json' })
    response.end(JSON.stringify({ status: stub.state }))
  }
}

/** @throws {Error} EADDRINUSE, if another process took the port while the stand-in was stopped */
async function listen(server: Server, port: number): Promise<void> {
  if (!server.listening) await once(server.listen(port, LOOPBACK.host), 'listening')
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
