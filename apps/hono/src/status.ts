import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, get, type Options, send } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  get(app, '/_/status', (c) => send(c, 200, PLAIN_TEXT, 'OK'))

  return app
}
