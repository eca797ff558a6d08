import { z } from 'zod'
import { route } from '../src/router.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = [
  // A `ZodError` becomes a 400 that names the fields.
  route('POST', '/greetings', async (context) => {
    const { name } = Person.parse(await context.readJson())
    context.json({ hello: name }, 201)
  }),
]
