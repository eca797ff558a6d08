import { win32 } from 'node:path'
import createError from 'http-errors'

let underWay = 0

/** The limit of the server is that of the route that takes the largest body: `maxRequestBodySize: 2_000_000` in app.ts. */
export const upload = () => ({
  '/uploads': {
    POST: async (request: Request) => {
      if (underWay >= 16) throw createError(503, { headers: { 'retry-after': '1' } }) // files in memory: 32 MB
      underWay++
      try {
        const form = await request.formData().catch((cause) => {
          throw createError(400, { cause })
        })
        const file = form.get('file')
        // A browser sends a field without a file as one without a name.
        if (!(file instanceof File) || !file.name) throw createError(400, 'The form has no file.')
        return Response.json({ name: win32.basename(file.name), size: file.size }, { status: 201 })
      } finally {
        underWay--
      }
    },
  },
})
