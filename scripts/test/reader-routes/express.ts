import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import express, { Router } from 'express'
import createError from 'http-errors'
import { z } from 'zod'
import { events } from './events.ts'

const TEAS = ['Assam', 'Keemun']
const Id = z.object({ id: z.coerce.number().int() })
const Greeting = z.object({ name: z.string().min(1).max(100) })

export function withReaderRoutes(own: Router, existing: string): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.use(own)
  router.use(events)

  router.post(existing, (request, response) => {
    const { name } = Greeting.parse(request.body)
    response.status(201).json({ hello: name })
  })

  router.get('/reader/throws', () => {
    throw new Error('secret')
  })

  router.get('/reader/rejects', async () => {
    await sleep(1)
    throw new Error('secret')
  })

  router.get('/reader/silent', () => {})

  router.get('/reader/cookie', (_request, response) => {
    response
      .cookie('seen', 'yes', { httpOnly: true, sameSite: 'lax' })
      .cookie('theme', 'dark')
      .json({ seen: true })
  })

  router.get('/reader/redirect', (_request, response) => response.redirect(303, '/reader/page'))

  router.post('/reader/form', express.urlencoded(), (request, response) => {
    const { name } = Greeting.parse(request.body)
    response.type('text').send(`Hello, ${name}!`)
  })

  router.get('/reader/page', (_request, response) => {
    response.set('content-security-policy', "default-src 'self'").type('html').send('<p>A second page</p>')
  })

  router.get('/reader/own-header', (_request, response) => {
    response.set('referrer-policy', 'origin').send('mine')
  })

  router.use('/reader/teas', teas)

  router.post('/reader/upload', async (request, response) => {
    let size = 0
    for await (const chunk of request) size += chunk.length
    response.json({ size })
  })

  router.get('/reader/download', (_request, response) => response.download('package.json', 'manifest.json'))

  router.get('/reader/proxy', async (request, response) => {
    const upstream = await fetch(String(request.query.from))
    response.status(upstream.status).type(upstream.headers.get('content-type') ?? 'text')
    if (upstream.body) await pipeline(upstream.body, response)
  })

  return router
}

const teas = Router({ caseSensitive: true, strict: true })

teas.use((_request, response, next) => {
  response.set('x-teas', 'yes')
  next()
})

teas.param('id', (request, response, next) => {
  const { id } = Id.parse(request.params)
  response.locals.tea = TEAS[id]
  if (TEAS[id] === undefined) throw createError(404, 'No such tea.')
  next()
})

teas
  .route('/:id')
  .get((_request, response) => {
    response.json({ name: response.locals.tea })
  })
  .patch((request, response) => {
    response.json(Greeting.parse(request.body))
  })
