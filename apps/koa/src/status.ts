import Router from '@koa/router'

export const status = new Router()

status.get('/_/status', (ctx) => {
  ctx.body = 'OK'
})
