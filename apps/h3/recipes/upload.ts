import { H3, readValidatedBody } from 'h3'
import { z } from 'zod'

const Form = z.object({ file: z.file() })

// In server.ts: `maxRequestBodySize: 2_000_000`, bytes. In app.ts, so that other routes keep their limit:
// `app.use(bodyLimit(64 * 1024), { match: ({ url }) => url.pathname !== '/uploads' })`.
export const upload = new H3().post('/uploads', async (event) => {
  const { file } = await readValidatedBody(event, Form, { type: 'formData' })
  event.res.status = 201
  return { name: file.name, size: file.size }
})
