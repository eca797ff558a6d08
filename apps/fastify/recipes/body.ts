import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'

const Person = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) })
const Greeting = Type.Object({ hello: Type.String() })

// The schemas validate the body, give it its type, and leave out of the response what they do not have.
export const body: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/greetings',
    { schema: { body: Person, response: { 201: Greeting } } },
    async (request, reply) => {
      reply.code(201)
      return { hello: request.body.name }
    },
  )
}
