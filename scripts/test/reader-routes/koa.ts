import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Router from '@koa/router'
import { z } from 'zod'
import { events } from './events.ts'

const TEAS = ['Assam', 'Keemun']
const Id = z.object({ id: z.coerce.number().int() })
const Greeting = z.object({ name: z.string().min(1).max(100) })

export function withReaderRoutes(own: Router, existing: string): Router {
  const router = new Router({ sensitive: true, strict: true })
  router.use(own.routes())
  router.use(events.routes())

  router.post(existing, (ctx) => {
    const { name } = Greeting.parse(ctx.request.body)
    ctx.status = 201
    ctx.body = { hello: name }
  })

  router.get('/reader/throws', () => {
    throw new Error('secret')
  })

  router.get('/reader/rejects', async () => {
    await sleep(1)
    throw new Error('secret')
  })

  router.get('/reader/silent', () => new Promise(() => {}))

  router.get('/reader/cookie', (ctx) => {
    ctx.cookies.set('seen', 'yes', { httpOnly: true, sameSite: 'lax' })
    ctx.cookies.set('theme', 'dark')
    ctx.body = { seen: true }
  })

  router.get('/reader/redirect', (ctx) => {
    ctx.status = 303
    ctx.redirect('/reader/page')
  })

  router.post('/reader/form', (ctx) => {
    const { name } = Greeting.parse(ctx.request.body)
    ctx.body = `Hello, ${name}!`
  })

  router.get('/reader/page', (ctx) => {
    ctx.set('content-security-policy', "default-src 'self'")
    ctx.body = '<p>A second page</p>'
  })

  router.get('/reader/own-header', (ctx) => {
    ctx.set('referrer-policy', 'origin')
    ctx.body = 'mine'
  })

  router.use(teas.routes(), teas.allowedMethods())

  router.post('/reader/upload', async (ctx) => {
    let size = 0
    for await (const chunk of ctx.req) size += chunk.length
    ctx.body = { size }
  })

  router.get('/reader/download', (ctx) => {
    ctx.attachment('manifest.json')
    ctx.body = createReadStream('package.json')
  })

  router.get('/reader/proxy', async (ctx) => {
    ctx.body = await fetch(String(ctx.query.from))
  })

  return router
}

const teas = new Router({ prefix: '/reader/teas', sensitive: true, strict: true })

teas.use(async (ctx, next) => {
  await next()
  ctx.set('x-teas', 'yes')
})

teas.get('/:id', (ctx) => {
  const { id } = Id.parse(ctx.params)
  ctx.body = { name: TEAS[id] ?? ctx.throw(404, 'No such tea.') }
})

teas.patch('/:id', (ctx) => {
  ctx.body = Greeting.parse(ctx.request.body)
})
