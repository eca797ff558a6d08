import { greeting, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, (app) => {
    get(app, '/', (_request, response) => response.type(PLAIN_TEXT).send('Hello World!'))

    get(app, '/json', (_request, response) => response.json({ hello: 'world' }))

    get(app, '/hello/:name', (request, response) =>
      response.type(PLAIN_TEXT).send(greeting(request.params.name ?? '')),
    )
  })
}
