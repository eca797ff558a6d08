import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { readBody } from '#shared/http/body.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { events } from './events.ts'
import { type Route, route } from './router.ts'

const TEAS = ['Assam', 'Keemun']

export const withReaderRoutes = (own: readonly Route[], existing: string): Route[] => [
  ...own,
  ...events,

  route('POST', existing, async (context) => {
    context.json({ hello: parseName(await context.readJson()) }, 201)
  }),

  route('GET', '/reader/throws', () => {
    throw new Error('secret')
  }),

  route('GET', '/reader/rejects', async () => {
    await sleep(1)
    throw new Error('secret')
  }),

  route('GET', '/reader/silent', () => {}),

  route('GET', '/reader/cookie', (context) => {
    context.response.setHeader('set-cookie', ['seen=yes; HttpOnly; SameSite=Lax', 'theme=dark'])
    context.json({ seen: true })
  }),

  route('GET', '/reader/redirect', ({ response }) => {
    response.writeHead(303, { location: '/reader/page' }).end()
  }),

  route('POST', '/reader/form', async (context) => {
    const form = new URLSearchParams(String(await readBody(context.request)))
    context.text(`Hello, ${parseName(Object.fromEntries(form))}!`)
  }),

  route('GET', '/reader/page', (context) => {
    context.response.setHeader('content-security-policy', "default-src 'self'")
    context.html('<p>A second page</p>')
  }),

  route('GET', '/reader/own-header', (context) => {
    context.response.setHeader('referrer-policy', 'origin')
    context.text('mine')
  }),

  route('GET', '/reader/teas/:id', (context) => {
    const name = TEAS[parseId(context.params.id)]
    if (name === undefined) throw new HttpProblem(404, { detail: 'No such tea.' })
    context.response.setHeader('x-teas', 'yes')
    context.json({ name })
  }),

  route('PATCH', '/reader/teas/:id', async (context) => {
    context.json({ name: parseName(await context.readJson()) })
  }),

  route('POST', '/reader/upload', async (context) => {
    let size = 0
    for await (const chunk of context.request) size += chunk.length
    context.json({ size })
  }),

  route('GET', '/reader/download', ({ response }) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-disposition': 'attachment; filename="manifest.json"',
    })
    return pipeline(createReadStream('package.json'), response)
  }),

  route('GET', '/reader/proxy', async (context) => {
    const { response } = context
    const upstream = await fetch(String(context.query('from')?.[0]))
    response.writeHead(upstream.status, {
      'content-type': upstream.headers.get('content-type') ?? 'text/plain',
    })
    if (upstream.body) await pipeline(upstream.body, response)
  }),
]

function parseName(body: unknown): string {
  const name = typeof body === 'object' && body !== null && 'name' in body ? body.name : undefined
  if (typeof name === 'string' && name !== '' && name.length <= 100) return name
  throw new HttpProblem(400, { errors: [{ field: 'name', reason: 'must be a text of 1 to 100 characters' }] })
}

function parseId(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new HttpProblem(400, { errors: [{ field: 'id', reason: 'must be a whole number' }] })
}
