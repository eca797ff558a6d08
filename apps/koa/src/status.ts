import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  return createBase(options, (router) => {
    router.get('/_/status', (ctx) => {
      ctx.type = PLAIN_TEXT
      ctx.body = 'OK'
    })
  })
}
