import { Router } from 'express'
import { z } from 'zod'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = Router()

// `express.json()` of app.ts has read the body. A `ZodError` becomes a 400 that names the fields.
body.post('/greetings', (request, response) => {
  const { name } = Person.parse(request.body)
  response.status(201).json({ hello: name })
})
