import { greeting, JSON_TEXT, PLAIN_TEXT } from '#shared/contract.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  get(app, '/', (c) => c.text('Hello World!', 200, { 'content-type': PLAIN_TEXT }))

  get(app, '/json', (c) => c.json({ hello: 'world' }, 200, { 'content-type': JSON_TEXT }))

  get(app, '/hello/:name', (c) => c.text(greeting(c.req.param('name')), 200, { 'content-type': PLAIN_TEXT }))

  return app
}
