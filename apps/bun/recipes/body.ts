import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { readJson } from '../src/read-json.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = () => ({
  '/greetings': {
    POST: async (request: Request) => {
      const { name } = parseRequest(Person, await readJson(request)) // or a 400 that names the fields
      return Response.json({ hello: name }, { status: 201 })
    },
  },
})
