// npm install @fastify/send
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { onFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

// `serveStatic` knows no conditional requests, and no `#` in a name.
export const staticFiles = new Hono<{ Bindings: HttpBindings }>().get('/public/*', async (c) => {
  const path = c.req.path.slice('/public'.length)
  const file = await send(c.env.incoming, path, {
    root,
    dotfiles: 'allow', // `onFile` hides them
    onFile: onFile(root, c.env.incoming),
  })
  if (file.type === 'error') throw file.metadata.error
  if (file.type === 'directory') throw new HTTPException(404)
  await once(file.stream, 'readable') // it is open: a failure before is a 500, not a cut response
  const headers = { ...file.headers, 'content-security-policy': POLICY }
  const body = file.statusCode === 304 ? null : (Readable.toWeb(file.stream) as ReadableStream)
  return new Response(body, { status: file.statusCode, headers })
})
