import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import { events } from './events.ts'

const TEAS = ['Assam', 'Keemun']
const Id = Type.Object({ id: Type.Integer() })
const Tea = Type.Object({ name: Type.String() })
const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) })
const Greeting = Type.Object({ hello: Type.String() })

export const withReaderRoutes =
  (own: FastifyPluginAsync, existing: string): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.register(own)
    app.register(events)

    app.post(existing, { schema: { body: Name, response: { 201: Greeting } } }, async (request, reply) => {
      reply.code(201)
      return { hello: request.body.name }
    })

    app.get('/reader/throws', () => {
      throw new Error('secret')
    })

    app.get('/reader/rejects', async () => {
      await sleep(1)
      throw new Error('secret')
    })

    app.get('/reader/silent', () => new Promise(() => {}))

    app.get('/reader/cookie', async (_request, reply) => {
      reply.header('set-cookie', ['seen=yes; HttpOnly; SameSite=Lax', 'theme=dark'])
      return { seen: true }
    })

    app.get('/reader/redirect', async (_request, reply) => reply.redirect('/reader/page', 303))

    // What @fastify/formbody does.
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    app.post('/reader/form', { schema: { body: Name } }, async (request) => `Hello, ${request.body.name}!`)

    app.get('/reader/page', async (_request, reply) =>
      reply
        .header('content-security-policy', "default-src 'self'")
        .type('text/html; charset=utf-8')
        .send('<p>A second page</p>'),
    )

    app.get('/reader/own-header', async (_request, reply) =>
      reply.header('referrer-policy', 'origin').send('mine'),
    )

    app.register(teas, { prefix: '/reader/teas' })

    app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
    app.post('/reader/upload', async (request) => {
      let size = 0
      for await (const chunk of request.body as AsyncIterable<Buffer>) size += chunk.length
      return { size }
    })

    app.get('/reader/download', async (_request, reply) =>
      reply
        .header('content-disposition', 'attachment; filename="manifest.json"')
        .type('application/json')
        .send(createReadStream('package.json')),
    )

    app.get('/reader/proxy', async (request, reply) =>
      reply.send(await fetch((request.query as { from: string }).from)),
    )
  }

/** Encapsulated: its hook is only for its own routes. */
const teas: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-teas', 'yes')
  })

  app.get('/:id', { schema: { params: Id, response: { 200: Tea } } }, async (request) => {
    const name = TEAS[request.params.id]
    if (name === undefined) throw app.httpErrors.notFound('No such tea.')
    return { name }
  })

  app.patch(
    '/:id',
    { schema: { params: Id, body: Name, response: { 200: Tea } } },
    async (request) => request.body,
  )
}
