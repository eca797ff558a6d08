import type { Role } from '@startgrid/grid/matrix.ts'
import type { Route } from './project.ts'

/** The routes of each kind of app, for its README. */
export const ROUTES: Readonly<Record<Role, readonly Route[]>> = {
  hello: [
    { method: 'GET', path: '/', answer: '`Hello World!` as text' },
    { method: 'GET', path: '/json', answer: '`{"hello":"world"}`' },
    { method: 'GET', path: '/hello/:name', answer: '`Hello, NAME!` as text' },
  ],
  ssr: [
    { method: 'GET', path: '/?items=N', answer: 'a React page with N products, 0 to 1000 (50)' },
    {
      method: 'GET',
      path: '/stream?items=N&delay=MS',
      answer: 'the same page streamed; its slow part comes after MS, 0 to 5000 (50)',
    },
    {
      method: 'GET',
      path: '/partial/:locale/:slug',
      answer: 'one product as a fragment, in `en-US`, `de-DE` or `fr-FR`',
    },
    {
      method: 'GET',
      path: '/assets/*',
      answer: 'client files under hashed names, compressed at build time',
    },
  ],
  status: [{ method: 'GET', path: '/_/status', answer: '`OK` as text' }],
}

export const HEALTH_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/livez', answer: '200 while the process lives' },
  { method: 'GET', path: '/readyz', answer: '200 while it takes requests, 503 while it drains' },
]
