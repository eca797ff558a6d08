import { Router } from 'express'

export const hello = Router()

hello.get('/', (_request, response) => {
  response.type('text').send('Hello World!')
})

hello.get('/json', (_request, response) => {
  response.json({ hello: 'world' })
})

hello.get('/hello/:name', (request, response) => {
  response.type('text').send(`Hello, ${request.params.name}!`)
})
