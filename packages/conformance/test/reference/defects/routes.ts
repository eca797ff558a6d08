import { content, decodeName, onPath, onStatus, withStatus } from '../alterations.ts'
import { type Behaviour, CORRECT } from '../behaviour.ts'
import { type Defect, EVERY_ROUTE, hello, status } from './defect.ts'

const DECODED = 'a name is percent-decoded as UTF-8, once'

export const routes: readonly Defect[] = [
  hello('other JSON', EVERY_ROUTE, onPath('/json', content('{"hello":"World"}'))),
  hello('a problem with its stack', 'an unknown path is 404', notFoundWith('"stack":"at x"')),
  hello('errors without their fields', 'an unknown path is 404', notFoundWith('"errors":["x"]')),
  hello('dots in names cut off', DECODED, {
    decode: (text) => CORRECT.decode(text).replace(/^\.+/, ''),
  }),
  hello('a body off by one byte', EVERY_ROUTE, onPath('/', content('Hello World'))),
  status('status without its response', EVERY_ROUTE, onPath('/_/status', content('ok'))),
  hello('paths without case', 'a path in another case, or almost a route, or of another role is unknown', {
    path: (target) =>
      CORRECT.path(target).startsWith('/hello/') ? CORRECT.path(target) : CORRECT.path(target).toLowerCase(),
  }),
  hello('a trailing slash ignored', 'a path with a trailing slash is another path', {
    path: (target) => CORRECT.path(target).replace(/(?<=.)\/$/, ''),
  }),
  hello('double slashes merged', 'a path with a double slash is another path', {
    path: (target) => CORRECT.path(target).replace(/\/+/g, '/'),
  }),
  hello('an escaped letter refused', 'an escaped letter is the same path or an unknown one', {
    refuse: (request) => (request.target.startsWith('/%6A') ? 400 : CORRECT.refuse(request)),
  }),
  hello('%2F decoded before routing', DECODED, {
    path: (target) => CORRECT.path(target).replaceAll(/%2F/gi, '/'),
  }),
  hello('a prefix is enough', 'a path in another case, or almost a route, or of another role is unknown', {
    path: (target) => (target.startsWith('/json') ? '/json' : CORRECT.path(target)),
  }),
  hello('a catch-all', 'an unknown path is 404', onStatus(404, withStatus(200))),
  hello('a bad escape in the query refused', 'an unknown query is ignored', {
    refuse: (request) => (request.target.includes('%zz') ? 400 : CORRECT.refuse(request)),
  }),
  hello('items checked everywhere', 'a parameter of one route is unknown to the others', {
    refuse: (request) => (request.target.includes('items=-1') ? 400 : CORRECT.refuse(request)),
  }),
  hello('a slash in a name', 'a name is one segment', {
    path: (target) => CORRECT.path(target).replace(/^\/hello\/a\/b$/, '/hello/x'),
  }),
  hello('an empty name', 'a path without its last parameter is 404 or 400', {
    path: (target) => CORRECT.path(target).replace(/^\/hello\/$/, '/hello/x'),
  }),
  hello('names decoded twice', DECODED, {
    decode: (text) => decodeName(decodeURIComponent(text)),
  }),
  hello('names not decoded', DECODED, { decode: (text) => text }),
  hello('names decoded as Latin-1', DECODED, {
    decode: (text) => Buffer.from(decodeURIComponent(text)).toString('latin1'),
  }),
  hello('plus as space', DECODED, {
    decode: (text) => decodeURIComponent(text.replaceAll('+', ' ')),
  }),
]

function notFoundWith(member: string): Partial<Behaviour> {
  return onStatus(404, content(`{"type":"about:blank","title":"Not Found","status":404,${member}}`))
}
