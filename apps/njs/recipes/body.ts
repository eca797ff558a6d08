import { type Request, send, sendProblem, textOf } from '../src/request.ts'

export default { greet }

/** NGINX limits the body. No library that validates runs on njs's old engine, so this is by hand. */
function greet(r: Request): void {
  const name = readName(r)
  if (!isJson(r)) sendProblem(r, 415, 'Unsupported Media Type', {})
  else if (typeof name === 'string' && name !== '' && name.length <= 100)
    send(r, 201, JSON.stringify({ hello: name }))
  else
    sendProblem(r, 400, 'Bad Request', {
      errors: [{ field: 'name', reason: 'must be a text of 1 to 100 characters' }],
    })
}

/** A form of another site can send what says text/plain or nothing. */
function isJson({ headersIn }: Request): boolean {
  const isType = /^application\/([\w.-]+\+)?json *(;|$)/i.test(headersIn['content-type'] ?? '')
  return isType && /^(identity)?$/i.test(headersIn['content-encoding'] ?? '')
}

function readName(r: Request): unknown {
  try {
    return JSON.parse(textOf(r)).name
  } catch {
    return undefined // no JSON, or null
  }
}
