import createError from 'http-errors'

/** The limit of the server is that of the route that takes the largest body: `maxRequestBodySize: 2_000_000` in app.ts. */
export const upload = () => ({
  '/uploads': {
    POST: async (request: Request) => {
      const form = await request.formData().catch((cause) => {
        throw createError(400, { cause })
      })
      const file = form.get('file')
      if (!(file instanceof File)) throw createError(400, 'The form has no file.')
      return Response.json({ name: file.name, size: file.size }, { status: 201 })
    },
  },
})
