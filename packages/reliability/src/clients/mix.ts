import type { App } from '@startgrid/grid/apps.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { type Request, requestBytes } from '@startgrid/wire/request.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'

/** One request of a mixed load, and the statuses that are right. */
export interface Step extends Request {
  readonly right: readonly number[]
}

const SCRIPT = ASSETS.find((url) => url.endsWith('.js')) ?? '/'

const PAGES: Readonly<Record<App['role'], readonly Step[]>> = {
  hello: [
    { target: '/', right: [200] },
    { target: '/json', right: [200] },
    { target: '/hello/Zo%C3%AB', right: [200] },
    { target: '/hello/', right: [404, 400] },
  ],
  ssr: [
    { target: '/?items=20', right: [200] },
    { target: '/?items=1001', right: [400] },
    { target: '/?items=0', right: [200] },
    { target: SCRIPT, headers: [['accept-encoding', 'br']], right: [200] },
    { target: '/assets/nothing.js', right: [404] },
  ],
  status: [{ target: '/_/status', right: [200] }],
}

const canStream = ({ role, absent }: App) => role === 'ssr' && !absent.includes('stream')

/** All that an app can be asked for in one round, right and wrong. */
export function stepsOf(app: App): readonly Step[] {
  const own = PAGES[app.role]
  const target = own[0]?.target ?? '/'
  return [
    ...own,
    ...(canStream(app) ? [{ target: '/stream?delay=20', right: [200] }] : []),
    { target: '/livez', right: [200] },
    { target: '/readyz', right: [200] },
    { target: '/nowhere?a=b', headers: [['x-request-id', 'not one']], right: [404] },
    { target: '/%zz', right: [400, 404] },
    { target, method: 'HEAD', right: [200] },
    { target, method: 'OPTIONS', right: [204, 200, 404, 405, 501] },
    { target, method: 'POST', body: 'x'.repeat(1_000), right: [405, 404] },
  ]
}

/** Clients that leave before the end of the response; `sawBytes`: after its first bytes. */
export interface ClientAbort {
  readonly path: string
  readonly sawBytes: boolean
}

/** The ways in which clients leave an app. */
export function abortsOf(app: App): readonly ClientAbort[] {
  if (app.role !== 'ssr') return [{ path: PAGES[app.role][0]?.target ?? '/', sawBytes: false }]
  // njs takes half a second for 500.
  const page = `/?items=${app.runtime === 'nginx' ? 10 : 500}`
  const ways = [
    { path: page, sawBytes: false },
    { path: page, sawBytes: true },
    { path: SCRIPT, sawBytes: true },
  ]
  const stream = '/stream?delay=5000'
  return canStream(app)
    ? [...ways, { path: stream, sawBytes: true }, { path: stream, sawBytes: false }]
    : ways
}

/** Client aborts alternate: one closes its connection in order, the next one resets it. */
let aborts = 0

/** Sends a request and leaves. @throws {Error} if there is no connection, or no response to leave, within 60 s */
export function leave(target: Target, { path, sawBytes }: ClientAbort): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(target)
  aborts += 1
  const isOrderly = aborts % 2 === 0
  const go = (): void => void (isOrderly ? socket.destroy() : socket.resetAndDestroy())
  socket.setTimeout(60_000, () => socket.destroy(new Error(`GET ${path}: no response to leave within 60 s.`)))
  socket.once('error', reject).once('close', () => resolve())
  socket.write(requestBytes({ target: path }, 'app'), () => {
    if (!sawBytes) setImmediate(go)
  })
  if (sawBytes) socket.once('data', go)
  return promise
}
