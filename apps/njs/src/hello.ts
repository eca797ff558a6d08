import { type Request, send } from './request.ts'

export default { greet, json, greetByName }

function greet(r: Request): void {
  send(r, 200, 'Hello World!')
}

function json(r: Request): void {
  send(r, 200, JSON.stringify({ hello: 'world' }))
}

function greetByName(r: Request): void {
  send(r, 200, `Hello, ${r.variables.name}!`)
}
