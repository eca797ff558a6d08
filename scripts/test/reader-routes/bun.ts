import { type BunRequest, sleep } from 'bun'
import { z } from 'zod'
import { HttpProblem } from '#shared/http/problem.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { events } from './events.ts'
import type { Routes } from './wrap-routes.ts'

const TEAS = ['Assam', 'Keemun']
const Id = z.object({ id: z.coerce.number().int() })
const Greeting = z.object({ name: z.string().min(1).max(100) })

export const withReaderRoutes =
  (make: (options: AppOptions) => Routes, existing: string) =>
  (options: AppOptions): Routes => {
    const own = make(options)
    return {
      ...own,
      ...events(options),

      [existing]: {
        ...own[existing],
        POST: async (request: BunRequest) => {
          const { name } = Greeting.parse(await request.json())
          return Response.json({ hello: name }, { status: 201 })
        },
      },

      '/reader/throws': () => {
        throw new Error('secret')
      },

      '/reader/rejects': async () => {
        await sleep(1)
        throw new Error('secret')
      },

      '/reader/silent': () => new Promise<Response>(() => {}),

      '/reader/cookie': (request) => {
        request.cookies.set('seen', 'yes', { httpOnly: true, sameSite: 'lax' })
        request.cookies.set('theme', 'dark')
        return Response.json({ seen: true })
      },

      '/reader/redirect': Response.redirect('/reader/page', 303),

      '/reader/form': {
        POST: async (request) => {
          const { name } = Greeting.parse(Object.fromEntries(await request.formData()))
          return new Response(`Hello, ${name}!`)
        },
      },

      '/reader/page': new Response('<p>A second page</p>', {
        headers: {
          'content-security-policy': "default-src 'self'",
          'content-type': 'text/html; charset=utf-8',
        },
      }),

      '/reader/own-header': () => new Response('mine', { headers: { 'referrer-policy': 'origin' } }),

      '/reader/teas/:id': {
        GET: ({ params }: BunRequest<'/reader/teas/:id'>) => {
          const name = TEAS[Id.parse(params).id]
          if (name === undefined) throw new HttpProblem(404, { detail: 'No such tea.' })
          return Response.json({ name }, { headers: { 'x-teas': 'yes' } })
        },
        PATCH: async (request: BunRequest<'/reader/teas/:id'>) =>
          Response.json(Greeting.parse(await request.json())),
      },

      '/reader/upload': {
        GET: new Response('POST a file here.'),
        POST: async ({ body }: Request) => {
          let size = 0
          for await (const chunk of body ?? []) size += chunk.length
          return Response.json({ size })
        },
      },

      '/reader/download': () =>
        new Response(Bun.file('package.json'), {
          headers: { 'content-disposition': 'attachment; filename="manifest.json"' },
        }),

      '/reader/proxy': ({ url }) => fetch(String(new URL(url).searchParams.get('from'))),
    }
  }
