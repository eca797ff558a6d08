import { Hono } from 'hono'

export const hello = new Hono()
  .get('/', (c) => c.text('Hello World!'))
  .get('/json', (c) => c.json({ hello: 'world' }))
  .get('/hello/:name', (c) => c.text(`Hello, ${c.req.param('name')}!`))

/** For Hono's RPC client: `hc<AppType>(url)`. */
export type AppType = typeof hello
