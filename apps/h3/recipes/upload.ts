import type { ServerResponse } from 'node:http'
import { H3, readValidatedBody } from 'h3'
import { z } from 'zod'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'

const Form = z.object({ file: z.file() })
const limit = limitConcurrency(16) // files in memory: 32 MB

// In server.ts: `maxRequestBodySize: 2_000_000`, bytes. In app.ts, so that other routes keep their limit:
// `app.use(bodyLimit(64 * 1024), { match: ({ url }) => url.pathname !== '/uploads' })`.
export const upload = new H3().post('/uploads', async (event) => {
  limit(event.runtime?.node?.res as ServerResponse)
  const { file } = await readValidatedBody(event, Form, { type: 'formData' })
  event.res.status = 201
  return { name: fileName(file.name), size: file.size }
})
