// npm install @fastify/multipart
import multipart from '@fastify/multipart'
import type { FastifyPluginAsync } from 'fastify'

export const upload: FastifyPluginAsync = async (app) => {
  await app.register(multipart, { limits: { files: 1, fileSize: 2_000_000, fields: 0 } }) // bytes, in memory

  app.post('/uploads', async (request, reply) => {
    const file = await request.file()
    if (file === undefined) return reply.badRequest('The form has no file.')
    const { length: size } = await file.toBuffer()
    reply.code(201)
    return { name: file.filename, size }
  })
}
