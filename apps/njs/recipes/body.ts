import { type Request, send, sendProblem } from '../src/request.ts'

export default { greet }

/** NGINX limits the body. No library that validates runs on njs's old engine, so this is by hand. */
function greet(r: Request): void {
  const name = readName(r.requestText)
  if (typeof name === 'string' && name !== '' && name.length <= 100)
    send(r, 201, JSON.stringify({ hello: name }))
  else
    sendProblem(r, 400, 'Bad Request', {
      errors: [{ field: 'name', reason: 'must be a text of 1 to 100 characters' }],
    })
}

function readName(body = ''): unknown {
  try {
    return JSON.parse(body).name
  } catch {
    return undefined // no JSON, or null
  }
}
