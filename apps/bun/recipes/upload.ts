import createError from 'http-errors'
import { fileName } from '#shared/files.ts'
import { Busy } from '#shared/problem.ts'

let underWay = 0

/** The limit of the server is that of the route that takes the largest body: `maxRequestBodySize: 2_000_000` in app.ts. */
export const upload = () => ({
  '/uploads': {
    POST: async (request: Request) => {
      if (underWay >= 16) throw new Busy() // files in memory: 32 MB
      underWay++
      try {
        const form = await request.formData().catch((cause) => {
          throw createError(400, { cause })
        })
        const file = form.get('file')
        if (!(file instanceof File)) throw createError(400, 'The form has no file.')
        return Response.json({ name: fileName(file.name), size: file.size }, { status: 201 })
      } finally {
        underWay--
      }
    },
  },
})
