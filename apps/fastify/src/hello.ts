import { greeting, JSON_TEXT, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  app.get('/', (_request, reply) => reply.type(PLAIN_TEXT).send('Hello World!'))

  app.get('/json', (_request, reply) => reply.type(JSON_TEXT).send({ hello: 'world' }))

  // The expression keeps the empty name out, which a bare `:name` matches.
  app.get<{ Params: { name: string } }>('/hello/:name(^[^]+$)', (request, reply) =>
    reply.type(PLAIN_TEXT).send(greeting(request.params.name)),
  )

  return app
}
