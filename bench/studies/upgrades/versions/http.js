import { createServer, IncomingMessage, ServerResponse } from 'node:http'

/** `prototypes`: as Express gives each request and response its methods (express/lib/express.js, lib/application.js). */
const sets = process.argv[2] === 'prototypes'
const ofRequests = Object.create(IncomingMessage.prototype)
const ofResponses = Object.create(ServerResponse.prototype)

createServer((request, response) => {
  if (sets) {
    Object.setPrototypeOf(request, ofRequests)
    Object.setPrototypeOf(response, ofResponses)
  }
  response.setHeader('content-type', 'text/plain; charset=utf-8').end('Hello World!')
}).listen(process.env.PORT, process.env.HOST)
