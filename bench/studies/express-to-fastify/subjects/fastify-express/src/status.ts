import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): Promise<App> {
  return createBase(options, (router) => {
    // In braces: `send` returns Fastify's reply, and Express would wait for that, because it has a `then`.
    get(router, '/_/status', (_request, response) => {
      response.type(PLAIN_TEXT).send('OK')
    })
  })
}
