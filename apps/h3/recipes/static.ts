// npm install @fastify/send
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import { H3 } from 'h3'
import { openFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

// h3's own `serveStatic` knows no ranges, that of srvx no `#` in a name.
export const staticFiles = new H3().get('/public/**', async ({ runtime, url }) => {
  const request = runtime?.node?.req as IncomingMessage
  const { stream, ...head } = await openFile(send, root, request, url.pathname.slice('/public'.length))
  return new Response(head.status === 304 ? null : (Readable.toWeb(stream) as ReadableStream), head)
})
