import type { Role } from '@startgrid/grid/apps.ts'
import type { Route } from './project.ts'

/** The routes of each kind of app, for its README. */
export const ROUTES: Readonly<Record<Role, readonly Route[]>> = {
  hello: [
    { method: 'GET', path: '/', response: '`Hello World!` as text' },
    { method: 'GET', path: '/json', response: '`{"hello":"world"}`' },
    { method: 'GET', path: '/hello/:name', response: '`Hello, NAME!` as text' },
  ],
  ssr: [
    { method: 'GET', path: '/?items=N', response: 'a React page with N products, 0 to 1000 (50)' },
    {
      method: 'GET',
      path: '/stream?items=N&delay=MS',
      response: 'the same page streamed; its slow part comes after MS, 0 to 5000 (50)',
    },
    {
      method: 'GET',
      path: '/assets/*',
      response: 'client files under hashed names, compressed at build time',
    },
  ],
  status: [{ method: 'GET', path: '/_/status', response: '`OK` as text' }],
}

export const HEALTH_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/livez', response: '200 while the process lives' },
  { method: 'GET', path: '/readyz', response: '200 while it takes requests, 503 while it drains' },
]
