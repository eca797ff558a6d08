import { header, isOn } from '../alterations.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Outgoing } from '../message.ts'
import { type Defect, hello } from './defect.ts'

const ROUTES = 'HEAD is GET without the body'
const ERRORS = 'HEAD of an error is its GET without the body'

export const head: readonly Defect[] = [
  hello('HEAD with another length', ROUTES, onHead(header('content-length', '1'))),
  hello('HEAD with a body', ROUTES, {
    bytes: (bytes, { method }, { body }) => (method === 'HEAD' ? Buffer.concat([bytes, body]) : bytes),
  }),

  // Each of these responses to HEAD is correct by itself. Only the comparison with GET finds the defect.
  hello(
    'HEAD with another spelling of the type',
    ROUTES,
    onHead(header('content-type', 'application/json'), '/json'),
  ),
  hello('HEAD of JSON without its type', ROUTES, onHead(header('content-type'), '/json')),
  hello('HEAD of 404 with another length', ERRORS, onHead(header('content-length', '1'))),
]

/** @param start of the targets; default all */
function onHead(change: (response: Outgoing) => Outgoing, start = '/'): Partial<Behaviour> {
  return {
    finish: (response, request) =>
      isOn(request, 'HEAD') && request.target.startsWith(start) ? change(response) : response,
  }
}
