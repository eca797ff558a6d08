import { json, type Routes, text } from './handler.ts'

export const hello: Routes = {
  '/': { GET: () => text('Hello World!') },

  '/json': { GET: () => json({ hello: 'world' }) },

  '/hello/:name': { GET: (_request, { name }) => text(`Hello, ${name}!`) },
}
