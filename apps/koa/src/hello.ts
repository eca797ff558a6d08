import { greeting, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, (router) => {
    router.get('/', (ctx) => {
      ctx.type = PLAIN_TEXT
      ctx.body = 'Hello World!'
    })

    router.get('/json', (ctx) => {
      ctx.body = { hello: 'world' }
    })

    router.get('/hello/:name', (ctx) => {
      ctx.type = PLAIN_TEXT
      ctx.body = greeting(ctx.params.name ?? '')
    })
  })
}
