import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import { events } from './events.ts'

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
