import type { Role } from '@startgrid/grid/apps.ts'
import { BODY_LIMIT } from '@startgrid/shared/http/validate-request.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import type { ClientAbort } from './client-abort.ts'

/** One request of a mixed load, and the expected response. */
export interface Step {
  readonly method?: string
  readonly target: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  readonly status: number
  /** Other right statuses, where the contract leaves frameworks a choice. */
  readonly orStatus?: readonly number[]
}

const SCRIPT = ASSETS.find((url) => url.endsWith('.js')) ?? '/'

const PAGES: Readonly<Record<Role, readonly Step[]>> = {
  hello: [
    { target: '/', status: 200 },
    { target: '/json', status: 200 },
    { target: '/hello/Zo%C3%AB', status: 200 },
    { target: '/hello/', status: 404, orStatus: [400] },
  ],
  ssr: [
    { target: '/?items=20', status: 200 },
    { target: '/?items=1001', status: 400 },
    { target: '/?items=0', status: 200 },
    { target: SCRIPT, headers: [['accept-encoding', 'br']], status: 200 },
    { target: '/assets/nothing.js', status: 404 },
  ],
  status: [{ target: '/_/status', status: 200 }],
}

/** What every role gets, with its main path. */
function commonSteps(path: string): Step[] {
  return [
    { target: '/livez', status: 200 },
    { target: '/readyz', status: 200 },
    { target: '/nowhere?a=b', headers: [['x-request-id', 'not one']], status: 404 },
    { target: '/%zz', status: 400 },
    { method: 'HEAD', target: path, status: 200 },
    { method: 'OPTIONS', target: path, status: 204, orStatus: [200, 404, 405, 501] },
    { method: 'POST', target: path, body: 'x'.repeat(1_000), status: 405, orStatus: [404] },
    { method: 'PUT', target: path, body: 'x'.repeat(BODY_LIMIT + 1), status: 413, orStatus: [404, 405] },
  ]
}

/** All that a role can be asked for in one round. @param canStream whether it has `/stream` */
export function stepsOf(role: Role, canStream: boolean): readonly Step[] {
  const own = PAGES[role]
  const stream = role === 'ssr' && canStream ? [{ target: '/stream?delay=20', status: 200 }] : []
  return [...own, ...stream, ...commonSteps(own[0]?.target ?? '/')]
}

/** The clients that leave after each round. */
export function abortsOf(role: Role, canStream: boolean): readonly ClientAbort[] {
  if (role !== 'ssr') return [{ path: PAGES[role][0]?.target ?? '/', sawBytes: false }]
  const streams = [{ path: '/stream?delay=1000', sawBytes: true }]
  return [
    { path: SCRIPT, sawBytes: true },
    { path: '/?items=20', sawBytes: false },
    ...(canStream ? streams : []),
  ]
}
