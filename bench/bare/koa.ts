import Router from '@koa/router'
import Koa from 'koa'

const router = new Router()
router.get('/json', (ctx) => {
  ctx.body = { hello: 'world' }
})
new Koa().use(router.routes()).listen(Number(process.env.PORT), '127.0.0.1')
