// npm install @fastify/send
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import { openFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

// As a route, `{ dir: './public' }` would have no policy, id and log.
export const staticFiles = () => ({
  '/public/*': {
    GET: async ({ method, headers, url }: Request) => {
      const request = { method, headers: Object.fromEntries(headers) } as IncomingMessage
      const path = new URL(url).pathname.slice('/public'.length)
      const { stream, ...head } = await openFile(send, root, request, path)
      const hasBody = method !== 'HEAD' && head.status !== 304
      return new Response(hasBody ? (Readable.toWeb(stream) as ReadableStream) : null, head)
    },
  },
})
