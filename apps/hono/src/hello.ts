import { greeting, JSON_TEXT, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, get, type Options, send } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  get(app, '/', (c) => send(c, 200, PLAIN_TEXT, 'Hello World!'))

  get(app, '/json', (c) => send(c, 200, JSON_TEXT, JSON.stringify({ hello: 'world' })))

  get(app, '/hello/:name', (c) => send(c, 200, PLAIN_TEXT, greeting(c.req.param('name'))))

  return app
}
