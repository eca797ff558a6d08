import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { route } from '../src/router.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = [
  // What does not fit is a 400 that names the fields.
  route('POST', '/greetings', async (context) => {
    const { name } = parseRequest(Person, await context.readJson())
    context.json({ hello: name }, 201)
  }),
]
