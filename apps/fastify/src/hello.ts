import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'

const Greeting = Type.Object({ hello: Type.String() })
const Person = Type.Object({ name: Type.String({ minLength: 1 }) })

export const hello: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', async () => 'Hello World!')

  app.get('/json', { schema: { response: { 200: Greeting } } }, async () => ({ hello: 'world' }))

  app.get('/hello/:name', { schema: { params: Person } }, async (request) => `Hello, ${request.params.name}!`)
}
