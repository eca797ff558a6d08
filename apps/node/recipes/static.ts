// npm install @fastify/send
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import createError from 'http-errors'
import { route } from '../src/router.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = [
  route('GET', '/public/*', async ({ request, response, path }) => {
    const file = await send(request, path.slice('/public'.length), { root })
    if (file.type !== 'file') throw createError(file.statusCode)
    response.setHeader('content-security-policy', POLICY)
    await pipeline(file.stream, response.writeHead(file.statusCode, file.headers))
  }),
]
