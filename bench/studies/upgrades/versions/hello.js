/** `node hello.js PROGRAM PACKAGE`: a hello of each, as its documentation writes it. */
const [program, name] = process.argv.slice(2)
const { PORT: port, HOST: host } = process.env

const PROGRAMS = {
  async http() {
    const { createServer } = await import('node:http')
    createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain; charset=utf-8').end('Hello World!')
    }).listen(port, host)
  },
  /** As Express gives each request and response its methods (express/lib/express.js, lib/application.js). */
  async prototypes() {
    const { createServer, IncomingMessage, ServerResponse } = await import('node:http')
    const ofRequests = Object.create(IncomingMessage.prototype)
    const ofResponses = Object.create(ServerResponse.prototype)
    createServer((request, response) => {
      Object.setPrototypeOf(request, ofRequests)
      Object.setPrototypeOf(response, ofResponses)
      response.setHeader('content-type', 'text/plain; charset=utf-8').end('Hello World!')
    }).listen(port, host)
  },
  bun() {
    Bun.serve({ port, hostname: host, fetch: () => new Response('Hello World!') })
  },
  async express() {
    const { default: express } = await import(name)
    const app = express()
    app.get('/', (_request, response) => {
      response.type('text').send('Hello World!')
    })
    app.listen(port, host)
  },
  async fastify() {
    const { default: fastify } = await import(name)
    const app = fastify()
    app.get('/', async () => 'Hello World!')
    app.listen({ port, host })
  },
  async hono() {
    const { serve } = await import('@hono/node-server')
    const { Hono } = await import(name)
    const app = new Hono()
    app.get('/', (c) => c.text('Hello World!'))
    serve({ fetch: app.fetch, port, hostname: host })
  },
  async koa() {
    const { default: Koa } = await import(name)
    const app = new Koa()
    app.use((ctx) => {
      ctx.body = 'Hello World!'
    })
    app.listen(port, host)
  },
}

await PROGRAMS[program]()
