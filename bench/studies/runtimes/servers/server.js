/** `RUNTIME server.js FRAMEWORK WORK`: a hello, a JSON body that is sent back, or a page, as the documentation of each writes it. The file is the same on Node, Bun and Deno. */
import { createPage } from './page.js'

const [framework, work] = process.argv.slice(2)
const port = Number(process.env.PORT)
const hostname = process.env.HOST

const page = work === 'page' ? createPage(await import('react'), await import('react-dom/server')) : undefined

const FRAMEWORKS = {
  async node() {
    const { createServer } = await import('node:http')
    const { json } = await import('node:stream/consumers')
    const works = {
      hello: (_request, response) => response.setHeader('content-type', 'text/plain').end('Hello World!'),
      json: async (request, response) => {
        const body = await json(request)
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      },
      page: (_request, response) => response.setHeader('content-type', 'text/html').end(page()),
    }
    createServer(works[work]).listen(port, hostname)
  },
  async express() {
    const { default: express } = await import('express')
    const app = express()
    if (work === 'hello') app.get('/', (_request, response) => response.send('Hello World!'))
    if (work === 'json') app.use(express.json()).post('/', ({ body }, response) => response.json(body))
    if (work === 'page') app.get('/', (_request, response) => response.send(page()))
    app.listen(port, hostname)
  },
  async fastify() {
    const { default: fastify } = await import('fastify')
    const app = fastify()
    if (work === 'hello') app.get('/', async () => 'Hello World!')
    if (work === 'json') app.post('/', async ({ body }) => body)
    if (work === 'page') app.get('/', async (_request, reply) => reply.type('text/html').send(page()))
    await app.listen({ port, host: hostname })
  },
  async koa() {
    const { default: Koa } = await import('koa')
    const app = new Koa()
    if (work === 'json') app.use((await import('@koa/bodyparser')).bodyParser())
    const works = { hello: () => 'Hello World!', json: ({ request }) => request.body, page }
    app.use(async (ctx) => {
      ctx.body = works[work](ctx)
    })
    app.listen(port, hostname)
  },
  async hono() {
    const { Hono } = await import('hono')
    const app = new Hono()
    if (work === 'hello') app.get('/', (c) => c.text('Hello World!'))
    if (work === 'json') app.post('/', async (c) => c.json(await c.req.json()))
    if (work === 'page') app.get('/', (c) => c.html(page()))
    if (globalThis.Bun) Bun.serve({ port, hostname, fetch: app.fetch })
    else if (globalThis.Deno) Deno.serve({ port, hostname }, app.fetch)
    else (await import('@hono/node-server')).serve({ fetch: app.fetch, port, hostname })
  },
  async h3() {
    const { H3, html, readBody, serve } = await import('h3')
    const app = new H3()
    if (work === 'hello') app.get('/', () => 'Hello World!')
    if (work === 'json') app.post('/', (event) => readBody(event))
    if (work === 'page') app.get('/', () => html(page()))
    serve(app, { port, hostname })
  },
}

await FRAMEWORKS[framework]()
