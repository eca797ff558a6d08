import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, (app) => {
    get(app, '/_/status', (_request, response) => response.type(PLAIN_TEXT).send('OK'))
  })
}
