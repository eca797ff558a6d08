import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, [
    { method: 'GET', path: '/_/status', handle: (exchange) => exchange.send(200, PLAIN_TEXT, 'OK') },
  ])
}
