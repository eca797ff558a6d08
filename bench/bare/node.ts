import { createServer } from 'node:http'

createServer((_request, response) => {
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.end(JSON.stringify({ hello: 'world' }))
}).listen(Number(process.env.PORT), '127.0.0.1')
