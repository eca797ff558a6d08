import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  app.get('/_/status', (_request, reply) => reply.type(PLAIN_TEXT).send('OK'))

  return app
}
