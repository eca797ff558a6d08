// `node server.cjs PROGRAM DIRECTORY`: the hello of fastify/benchmarks, or of @hono/node-server's README, with the packages of that directory.
// It differs from them only in that it prints the port that it got. It is CommonJS, because Node 16 runs it.
const { createRequire } = require('node:module')

const [program, directory] = process.argv.slice(2)
const load = createRequire(`${directory}/package.json`)

const listening = (server) => server.once('listening', () => console.log(server.address().port))

const PROGRAMS = {
  http: () =>
    require('node:http')
      .createServer((_request, response) => {
        response.setHeader('content-type', 'application/json; charset=utf-8')
        response.end(JSON.stringify({ hello: 'world' }))
      })
      .listen(0, '127.0.0.1'),
  express: () => {
    const app = load('express')()
    app.disable('etag')
    app.disable('x-powered-by')
    app.get('/', (_request, response) => response.json({ hello: 'world' }))
    return app.listen(0, '127.0.0.1')
  },
  koa: () => {
    const app = new (load('koa'))()
    app.use((context) => {
      context.body = { hello: 'world' }
    })
    return app.listen(0, '127.0.0.1')
  },
  fastify: () => {
    const response = { 200: { type: 'object', properties: { hello: { type: 'string' } } } }
    return fastify({ schema: { response } })
  },
  'fastify-without-schema': () => fastify({}),
  // With etag and x-powered-by, as both are by default.
  'express-text': () => {
    const app = load('express')()
    app.get('/', (_request, response) => response.send('Hello World!'))
    return app.listen(0, '127.0.0.1')
  },
  'hono-text': () => {
    const { Hono } = load('hono')
    const app = new Hono().get('/', (context) => context.text('Hello World!'))
    return load('@hono/node-server').serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  },
}

function fastify(options) {
  const app = load('fastify')()
  app.get('/', options, (_request, reply) => reply.send({ hello: 'world' }))
  app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

listening(PROGRAMS[program]())
