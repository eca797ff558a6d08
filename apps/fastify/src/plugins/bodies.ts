import type { FastifyServerOptions } from 'fastify'
import fp from 'fastify-plugin'

/** JSON has all its types, and an empty body is none. A form of another site can send text/plain, and nothing decodes a `Content-Encoding`. */
export default fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    app.removeContentTypeParser('text/plain')
    for (const type of ['application/json', /^application\/[\w.!#$&^-]+\+json\s*(;|$)/i])
      app.addContentTypeParser<string>(type as string, { parseAs: 'string' }, (request, body, done) => {
        if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? ''))
          done(app.httpErrors.unsupportedMediaType())
        else if (body === '') done(null, undefined)
        else parse(request, body, done)
      })
  },
  { name: 'bodies', dependencies: ['@fastify/sensible'] },
)

type Ajv = Parameters<NonNullable<NonNullable<FastifyServerOptions['ajv']>['onCreate']>>[0]

/** Beyond these, JSON.parse alters a number, and Ajv takes it. */
const BOUNDS: Record<string, number> = { integer: Number.MAX_SAFE_INTEGER, number: Number.MAX_VALUE }

/** A number that JavaScript cannot hold is not valid, also in schemas of `app.addSchema()`. */
export function boundNumbers(ajv: Ajv): void {
  for (const name of ['addSchema', 'compile'] as const) {
    const original = ajv[name] as (schema: unknown, ...more: unknown[]) => unknown
    const bounded: typeof original = (schema, ...more) => original.call(ajv, bound(schema), ...more)
    Object.assign(ajv, { [name]: bounded })
  }
}

function bound<Schema>(schema: Schema): Schema {
  const { type, minimum } = Object(schema)
  for (const limit of [type].flat().flatMap((one) => BOUNDS[one] ?? []))
    Object.assign(Object(schema), { maximum: limit, ...Object(schema), minimum: minimum ?? -limit })
  for (const part of Object.values(Object(schema))) if (Object(part) === part) bound(part)
  return schema
}
