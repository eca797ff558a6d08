import { H3, readValidatedBody } from 'h3'
import { z } from 'zod'
import { requireJson } from '#shared/media-type.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = new H3().post('/greetings', async (event) => {
  requireJson(event.req.headers) // h3's readers take any type
  const { name } = await readValidatedBody(event, Person)
  event.res.status = 201
  return { hello: name }
})
