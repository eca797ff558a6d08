// npm install @fastify/send
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import { H3, HTTPError } from 'h3'
import { onFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

// h3's own `serveStatic` knows no ranges, that of srvx no `#` in a name.
export const staticFiles = new H3().get('/public/**', async ({ runtime, url }) => {
  const request = runtime?.node?.req as IncomingMessage
  const path = url.pathname.slice('/public'.length)
  const file = await send(request, path, {
    root,
    dotfiles: 'allow', // `onFile` hides them
    onFile: onFile(root, request),
  })
  if (file.type === 'error') throw file.metadata.error
  if (file.type === 'directory') throw new HTTPError({ status: 404 })
  await once(file.stream, 'readable') // it is open: a failure before is a 500, not a cut response
  const headers = { ...file.headers, 'content-security-policy': POLICY }
  const body = file.statusCode === 304 ? null : (Readable.toWeb(file.stream) as ReadableStream)
  return new Response(body, { status: file.statusCode, headers })
})
