// npm install @fastify/static
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { closeFile, onFile, POLICY } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

export const staticFiles: FastifyPluginAsync = async (app) => {
  await app.register(fastifyStatic, {
    root,
    serve: false, // its own route takes `%2B` for itself, and says 403 if a file cannot be opened
    setHeaders: (reply) => {
      closeFile(reply.raw)
      reply.header('content-security-policy', POLICY)
    },
  })
  app.get<{ Params: { '*': string } }>('/public/*', (request, reply) =>
    reply.sendFile(request.params['*'], { onFile: onFile(root, request) }),
  )
}
