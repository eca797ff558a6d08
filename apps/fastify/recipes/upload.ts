// npm install @fastify/multipart
import multipart from '@fastify/multipart'
import type { FastifyPluginAsync } from 'fastify'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'

const limit = limitConcurrency(16) // files in memory: 32 MB

export const upload: FastifyPluginAsync = async (app) => {
  await app.register(multipart, { limits: { files: 1, fileSize: 2_000_000, fields: 0 } }) // bytes, in memory

  app.post('/uploads', async (request, reply) => {
    limit(reply.raw)
    const found: { name: string; size: number }[] = []
    try {
      for await (const file of request.files())
        found.push({ name: file.filename, size: (await file.toBuffer()).length })
    } catch (error) {
      // Those of a form that is cut have no status.
      throw Object(error).statusCode ? error : app.httpErrors.badRequest('The form is not complete.')
    }
    const name = fileName(found[0]?.name)
    reply.code(201)
    return { ...found[0], name }
  })
}
