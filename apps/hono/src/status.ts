import { PLAIN_TEXT } from '#shared/contract.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  get(app, '/_/status', (c) => c.text('OK', 200, { 'content-type': PLAIN_TEXT }))

  return app
}
