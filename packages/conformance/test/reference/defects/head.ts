import { header, isOn } from '../alterations.ts'
import type { Behaviour } from '../behaviour.ts'
import { type Outgoing, replaceHeader } from '../message.ts'
import { type Defect, hello, ssr } from './defect.ts'

const ROUTES = 'HEAD is GET without the body'
const ERRORS = 'HEAD of an error is its GET without the body'
const ASSETS = 'HEAD of an asset follows its coding and its validator'

export const head: readonly Defect[] = [
  hello('HEAD with another length', ROUTES, onHead(header('content-length', '1'))),
  hello('HEAD with a body', ROUTES, {
    bytes: (bytes, { method }, { body }) => (method === 'HEAD' ? Buffer.concat([bytes, body]) : bytes),
  }),
  ssr('HEAD of an asset without its coding', ASSETS, onHead(header('content-encoding'))),

  // Each of these responses to HEAD is correct by itself. Only the comparison with GET finds the defect.
  hello(
    'HEAD with another spelling of the type',
    ROUTES,
    onHead(header('content-type', 'application/json'), '/json'),
  ),
  hello('HEAD of JSON without its type', ROUTES, onHead(header('content-type'), '/json')),
  hello('HEAD of 404 with another length', ERRORS, onHead(header('content-length', '1'))),
  ssr(
    'last-modified only to HEAD',
    ASSETS,
    onHead((a) => replaceHeader(a, 'last-modified', new Date(0).toUTCString()), '/assets/'),
  ),
]

/** @param start of the targets; default all */
function onHead(change: (response: Outgoing) => Outgoing, start = '/'): Partial<Behaviour> {
  return {
    finish: (response, request) =>
      isOn(request, 'HEAD') && request.target.startsWith(start) ? change(response) : response,
  }
}
