// npm install @fastify/static
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { onFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles: FastifyPluginAsync = async (app) => {
  await app.register(fastifyStatic, {
    root,
    serve: false, // its own route takes `%2B` for itself, and says 403 if a file cannot be opened
    setHeaders: (reply) => reply.header('content-security-policy', POLICY),
  })
  app.get<{ Params: { '*': string } }>('/public/*', (request, reply) =>
    reply.sendFile(request.params['*'], { onFile: onFile(root, request) }),
  )
}
