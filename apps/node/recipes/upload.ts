import createError from 'http-errors'
import { z } from 'zod'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'
import { parseRequest } from '#shared/problem.ts'
import { readBody } from '../src/read-body.ts'
import { route } from '../src/router.ts'

const Form = z.object({ file: z.file() })
const limit = limitConcurrency(16) // files in memory: 32 MB

export const upload = [
  route('POST', '/uploads', async (context) => {
    const { request } = context
    limit(context.response)
    const body = await readBody(request, 2_000_000) // bytes, in memory
    // Node has no reader of forms for servers, but its `Response` has one.
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const form = await new Response(body, { headers }).formData().catch(() => {
      throw createError(400, 'The body is no form.')
    })
    const { file } = parseRequest(Form, Object.fromEntries(form))
    context.json({ name: fileName(file.name), size: file.size }, 201)
  }),
]
