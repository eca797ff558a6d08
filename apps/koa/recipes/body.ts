import Router from '@koa/router'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

export const body = new Router()

// `bodyParser` of app.ts has read the body. What does not fit is a 400 that names the fields.
body.post('/greetings', (ctx) => {
  if (ctx.is('json', '+json') === false) ctx.throw(415) // a form of another site
  const { name } = parseRequest(Person, ctx.request.body)
  ctx.status = 201
  ctx.body = { hello: name }
})
