import Router from '@koa/router'

export const status = new Router({ sensitive: true, strict: true })

status.get('/_/status', (ctx) => {
  ctx.body = 'OK'
})
