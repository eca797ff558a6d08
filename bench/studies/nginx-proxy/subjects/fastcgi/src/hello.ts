import { greeting, JSON_TEXT, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, [
    { method: 'GET', path: '/', handle: (exchange) => exchange.send(200, PLAIN_TEXT, 'Hello World!') },

    {
      method: 'GET',
      path: '/json',
      handle: (exchange) => exchange.send(200, JSON_TEXT, JSON.stringify({ hello: 'world' })),
    },

    {
      method: 'GET',
      path: '/hello/:name',
      handle: (exchange) => exchange.send(200, PLAIN_TEXT, greeting(exchange.params[0] ?? '')),
    },
  ])
}
