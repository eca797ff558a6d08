import { z } from 'zod'
import { readJson } from '../src/read-json.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = () => ({
  '/greetings': {
    POST: async (request: Request) => {
      const { name } = Person.parse(await readJson(request)) // a `ZodError` becomes a 400 that names the fields
      return Response.json({ hello: name }, { status: 201 })
    },
  },
})
