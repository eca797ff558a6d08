import { createServer, IncomingMessage, ServerResponse } from 'node:http'

/** `node hello.js PROGRAM PACKAGE`: a hello of each, as its documentation writes it. */
const [program, name = 'node:http'] = process.argv.slice(2)
const { PORT: port, HOST: host } = process.env
const { default: create, Hono } = await import(name)

/** `prototypes`: as Express gives each request and response its methods (express/lib/express.js, lib/application.js). */
const sets = program === 'prototypes'
const ofRequests = Object.create(IncomingMessage.prototype)
const ofResponses = Object.create(ServerResponse.prototype)

const http = () =>
  createServer((request, response) => {
    if (sets) {
      Object.setPrototypeOf(request, ofRequests)
      Object.setPrototypeOf(response, ofResponses)
    }
    response.setHeader('content-type', 'text/plain; charset=utf-8').end('Hello World!')
  }).listen(port, host)

const PROGRAMS = {
  http,
  prototypes: http,
  bun: () => Bun.serve({ port, hostname: host, fetch: () => new Response('Hello World!') }),
  express() {
    const app = create()
    app.get('/', (_request, response) => {
      response.type('text').send('Hello World!')
    })
    app.listen(port, host)
  },
  fastify() {
    const app = create()
    app.get('/', async () => 'Hello World!')
    app.listen({ port, host })
  },
  async hono() {
    const { serve } = await import('@hono/node-server')
    const app = new Hono()
    app.get('/', (c) => c.text('Hello World!'))
    serve({ fetch: app.fetch, port, hostname: host })
  },
  koa() {
    const app = new create()
    app.use((ctx) => {
      ctx.body = 'Hello World!'
    })
    app.listen(port, host)
  },
}

PROGRAMS[program]()
