import { Router } from 'express'
import createError from 'http-errors'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = Router()

// `express.json()` of app.ts has read the body. What does not fit is a 400 that names the fields.
body.post('/greetings', (request, response) => {
  if (request.is(['json', '+json']) === false) throw createError(415) // a form of another site
  const { name } = parseRequest(Person, request.body)
  response.status(201).json({ hello: name })
})
