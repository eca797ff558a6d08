// npm install @fastify/send
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import createError from 'http-errors'
import { onFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

// As a route, `{ dir: './public' }` would have no policy, id and log.
export const staticFiles = () => ({
  '/public/*': {
    GET: async ({ method, headers, url }: Request) => {
      const request = { method, headers: Object.fromEntries(headers) } as IncomingMessage
      const path = new URL(url).pathname.slice('/public'.length)
      const file = await send(request, path, {
        root,
        dotfiles: 'allow', // `onFile` hides them
        onFile: onFile(root, request),
      })
      if (file.type === 'error') throw file.metadata.error
      if (file.type === 'directory') throw createError(404)
      await once(file.stream, 'readable') // it is open: a failure before is a 500, not a cut response
      const hasBody = method !== 'HEAD' && file.statusCode !== 304
      const body = hasBody ? (Readable.toWeb(file.stream) as ReadableStream) : null
      return new Response(body, {
        status: file.statusCode,
        headers: { ...file.headers, 'content-security-policy': POLICY },
      })
    },
  },
})
