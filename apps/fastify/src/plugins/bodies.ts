import fp from 'fastify-plugin'

/** Beyond these, JSON.parse alters a number, and Ajv takes it. */
const BOUNDS: Record<string, number> = { integer: Number.MAX_SAFE_INTEGER, number: Number.MAX_VALUE }

/** JSON has all its types, an empty body is none, and a number that JavaScript cannot hold is not valid. */
export default fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    for (const type of ['application/json', /^application\/[\w.!#$&^-]+\+json\s*(;|$)/i])
      app.addContentTypeParser<string>(type as string, { parseAs: 'string' }, (request, body, done) => {
        if (body === '') done(null, undefined)
        else parse(request, body, done)
      })
    app.addHook('onRoute', ({ schema }) => boundNumbers({ ...schema, response: undefined }))
  },
  { name: 'bodies' },
)

function boundNumbers(schema: unknown): void {
  const { type, minimum } = Object(schema)
  const bound = BOUNDS[type]
  if (bound) Object.assign(Object(schema), { maximum: bound, ...Object(schema), minimum: minimum ?? -bound })
  for (const part of Object.values(Object(schema))) if (Object(part) === part) boundNumbers(part)
}
