// npm install @fastify/send
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { openFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

// `serveStatic` knows no conditional requests, and no `#` in a name.
export const staticFiles = new Hono<{ Bindings: HttpBindings }>().get('/public/*', async (c) => {
  const path = c.req.path.slice('/public'.length)
  const { stream, ...head } = await openFile(send, root, c.env.incoming, path)
  return new Response(head.status === 304 ? null : (Readable.toWeb(stream) as ReadableStream), head)
})
