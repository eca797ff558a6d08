import type { BunRequest } from 'bun'

export const hello = () => ({
  '/': { GET: () => new Response('Hello World!') },

  '/json': { GET: () => Response.json({ hello: 'world' }) },

  '/hello/:name': {
    GET: ({ params }: BunRequest<'/hello/:name'>) => new Response(`Hello, ${params.name}!`),
  },
})
