import express from 'express'

const app = express()
app.get('/json', (_request, response) => {
  response.json({ hello: 'world' })
})
app.listen(Number(process.env.PORT), '127.0.0.1')
