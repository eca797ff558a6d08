// `node server.cjs PROGRAM DIRECTORY`: the hello of fastify/benchmarks, or of @hono/node-server's README, with the packages of that directory.
// It differs from them only in its port.
const { createRequire } = require('node:module')
const { resolve } = require('node:path')

const [program, directory] = process.argv.slice(2)
const load = createRequire(resolve(directory, 'package.json'))
const { PORT: port, HOST: host } = process.env

const PROGRAMS = {
  http: () =>
    require('node:http')
      .createServer((_request, response) => {
        response.setHeader('content-type', 'application/json; charset=utf-8')
        response.end(JSON.stringify({ hello: 'world' }))
      })
      .listen(port, host),
  express: () => {
    const app = load('express')()
    app.disable('etag')
    app.disable('x-powered-by')
    app.get('/', (_request, response) => response.json({ hello: 'world' }))
    app.listen(port, host)
  },
  koa: () => {
    const app = new (load('koa'))()
    app.use((context) => {
      context.body = { hello: 'world' }
    })
    app.listen(port, host)
  },
  fastify: () => {
    const response = { 200: { type: 'object', properties: { hello: { type: 'string' } } } }
    fastify({ schema: { response } })
  },
  'fastify-without-schema': () => fastify({}),
  // With etag and x-powered-by, as both are by default.
  'express-text': () => {
    const app = load('express')()
    app.get('/', (_request, response) => response.send('Hello World!'))
    app.listen(port, host)
  },
  'hono-text': () => {
    const { Hono } = load('hono')
    const app = new Hono().get('/', (context) => context.text('Hello World!'))
    load('@hono/node-server').serve({ fetch: app.fetch, port, hostname: host })
  },
}

function fastify(options) {
  const app = load('fastify')()
  app.get('/', options, (_request, reply) => reply.send({ hello: 'world' }))
  app.listen({ port, host })
}

PROGRAMS[program]()
