import { H3, HTTPError } from 'h3'

// In server.ts: `maxRequestBodySize: 2_000_000`, bytes. In app.ts, so that other routes keep their limit:
// `app.use(bodyLimit(64 * 1024), { match: ({ url }) => url.pathname !== '/uploads' })`.
export const upload = new H3().post('/uploads', async ({ req, res }) => {
  const file = (await req.formData()).get('file')
  if (!(file instanceof File)) throw new HTTPError('The form has no file.', { status: 400 })
  res.status = 201
  return { name: file.name, size: file.size }
})
