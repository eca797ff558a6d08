import { HttpProblem } from '#shared/http/problem.ts'
import { json, type Routes, readJson, text } from './handler.ts'

/** njs's own (https://nginx.org/en/docs/njs/reference.html#ngx_fetch). */
declare const ngx: { fetch(url: string): Promise<{ status: number; text(): Promise<string> }> }

const TEAS = ['Assam', 'Keemun']

export const withReaderRoutes = (own: Routes, existing: string): Routes => ({
  ...own,

  [existing]: {
    ...own[existing],
    POST: (request) => json({ hello: parseName(readJson(request)) }, 201),
  },

  '/reader/throws': {
    GET: () => {
      throw new Error('secret')
    },
  },

  '/reader/rejects': { GET: () => Promise.reject(new Error('secret')) },

  '/reader/silent': { GET: () => new Promise(() => {}) },

  '/reader/cookie': {
    GET: () => ({ ...json({ seen: true }), headers: { 'set-cookie': 'seen=yes; HttpOnly; SameSite=Lax' } }),
  },

  '/reader/redirect': { GET: () => ({ status: 303, headers: { location: '/reader/page' } }) },

  '/reader/form': {
    POST: ({ requestText = '' }) => {
      const [, value = ''] = /(?:^|&)name=([^&]*)/.exec(requestText) ?? []
      return text(`Hello, ${parseName({ name: decodeURIComponent(value.replace(/\+/g, ' ')) })}!`)
    },
  },

  '/reader/page': {
    GET: () => ({
      type: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': "default-src 'self'" },
      body: '<p>A second page</p>',
    }),
  },

  '/reader/own-header': { GET: () => ({ ...text('mine'), headers: { 'referrer-policy': 'origin' } }) },

  '/reader/teas/:id': {
    GET: (_request, { id = '' }) => {
      const name = TEAS[parseId(id)]
      if (name === undefined) throw new HttpProblem(404, { detail: 'No such tea.' })
      return { ...json({ name }), headers: { 'x-teas': 'yes' } }
    },
    PATCH: (request) => json({ name: parseName(readJson(request)) }),
  },

  '/reader/upload': { POST: ({ requestText = '' }) => json({ size: requestText.length }) },

  '/reader/download': {
    GET: () => ({
      type: 'text/csv; charset=utf-8',
      headers: { 'content-disposition': 'attachment; filename="teas.csv"' },
      body: 'tea,grams\nAssam,100\n',
    }),
  },

  '/reader/proxy': {
    GET: async ({ args }) => {
      const upstream = await ngx.fetch(String(args.from))
      return text(await upstream.text(), upstream.status)
    },
  },
})

function parseName(body: unknown): string {
  const name = typeof body === 'object' && body !== null ? (body as { name?: unknown }).name : undefined
  if (typeof name === 'string' && name !== '' && name.length <= 100) return name
  throw new HttpProblem(400, { errors: [{ field: 'name', reason: 'must be a text of 1 to 100 characters' }] })
}

function parseId(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new HttpProblem(400, { errors: [{ field: 'id', reason: 'must be a whole number' }] })
}
