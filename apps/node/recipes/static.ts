// npm install @fastify/send
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import createError from 'http-errors'
import { onFile } from '#shared/files.ts'
import { route } from '../src/router.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = [
  route('GET', '/public/*', async (context) => {
    const { request, path } = context
    const file = await send(request, path.slice('/public'.length), {
      root,
      dotfiles: 'allow', // `onFile` hides them
      onFile: onFile(root, request),
    })
    if (file.type === 'error') throw file.metadata.error
    if (file.type === 'directory') throw createError(404)
    const headers = { ...file.headers, 'content-security-policy': POLICY }
    await context.stream(file.stream, file.statusCode, headers)
  }),
]
