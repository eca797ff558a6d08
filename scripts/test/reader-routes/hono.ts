import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { hc } from 'hono/client'
import { setCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { events } from './events.ts'
import { validator } from './middleware/validator.ts'

const TEAS = ['Assam', 'Keemun']
const Id = z.object({ id: z.coerce.number().int() })
const Greeting = z.object({ name: z.string().min(1).max(100) })

const teas = new Hono()
  .use(async (c, next) => {
    await next()
    c.header('x-teas', 'yes')
  })
  .get('/:id', validator('param', Id), (c) => {
    const name = TEAS[c.req.valid('param').id]
    if (name === undefined) throw new HTTPException(404, { message: 'No such tea.' })
    return c.json({ name })
  })
  .patch('/:id', validator('param', Id), validator('json', Greeting), (c) => c.json(c.req.valid('json')))

export const withReaderRoutes = (own: Hono, existing: string) =>
  new Hono()
    .route('/', own)
    .route('/', events)

    .post(existing, validator('json', Greeting), (c) => c.json({ hello: c.req.valid('json').name }, 201))

    .get('/reader/throws', () => {
      throw new Error('secret')
    })

    .get('/reader/rejects', async () => {
      await sleep(1)
      throw new Error('secret')
    })

    .get('/reader/silent', () => new Promise<Response>(() => {}))

    .get('/reader/cookie', (c) => {
      setCookie(c, 'seen', 'yes', { httpOnly: true, sameSite: 'Lax' })
      setCookie(c, 'theme', 'dark')
      return c.json({ seen: true })
    })

    .get('/reader/redirect', (c) => c.redirect('/reader/page', 303))

    .post('/reader/form', validator('form', Greeting), (c) => c.text(`Hello, ${c.req.valid('form').name}!`))

    .get('/reader/page', (c) => {
      c.header('content-security-policy', "default-src 'self'")
      return c.html('<p>A second page</p>')
    })

    .get('/reader/own-header', () => new Response('mine', { headers: { 'referrer-policy': 'origin' } }))

    .route('/reader/teas', teas)

    .post('/reader/upload', async (c) => {
      let size = 0
      for await (const chunk of c.req.raw.body ?? []) size += chunk.length
      return c.json({ size })
    })

    .get('/reader/download', async (c) => {
      c.header('content-disposition', 'attachment; filename="manifest.json"')
      return c.body(await readFile('package.json'), 200, { 'content-type': 'application/json' })
    })

    .get('/reader/proxy', (c) => fetch(String(c.req.query('from'))))

/** Hono's client knows the routes of the sub-app, too: this compiles. */
export async function rename(url: string, id: string, name: string): Promise<string> {
  const client = hc<ReturnType<typeof withReaderRoutes>>(url)
  const response = await client.reader.teas[':id'].$patch({ param: { id }, json: { name } })
  return (await response.json()).name
}
