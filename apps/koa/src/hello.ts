import Router from '@koa/router'

export const hello = new Router()

hello.get('/', (ctx) => {
  ctx.body = 'Hello World!'
})

hello.get('/json', (ctx) => {
  ctx.body = { hello: 'world' }
})

hello.get('/hello/:name', (ctx) => {
  ctx.body = `Hello, ${ctx.params.name}!`
})
