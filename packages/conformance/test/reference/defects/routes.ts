import { decodeName, onPath, onStatus, withStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { replaceBody } from '../message.ts'
import { type Defect, EVERY_ROUTE, hello, status } from './defect.ts'

export const routes: readonly Defect[] = [
  hello(
    'other JSON',
    EVERY_ROUTE,
    onPath('/json', (a) => replaceBody(a, '{"hello":"World"}')),
  ),
  hello(
    'a body that is not JSON',
    EVERY_ROUTE,
    onPath('/json', (a) => replaceBody(a, '{"hello":"world"')),
  ),
  hello('a problem with its stack', 'an unknown path is 404', {
    finish: (a) =>
      a.status === 404
        ? replaceBody(a, '{"type":"about:blank","title":"Not Found","status":404,"stack":"at x"}')
        : a,
  }),
  hello('errors without their fields', 'an unknown path is 404', {
    finish: (a) =>
      a.status === 404
        ? replaceBody(a, '{"type":"about:blank","title":"Not Found","status":404,"errors":["x"]}')
        : a,
  }),
  hello('a wrong title', 'an unknown path is 404', {
    finish: (a) =>
      a.status === 404 ? replaceBody(a, '{"type":"about:blank","title":"Nothing","status":404}') : a,
  }),
  hello('dot segments are 500', 'dot segments are resolved or not', {
    refuse: (r) => (/\/\.\/|\.\.\//.test(r.target) ? 500 : CORRECT.refuse(r)),
  }),
  hello('a dot at the end cut off', 'dot segments are resolved or not', {
    path: (target) => CORRECT.path(target).replace(/\/\.$/, ''),
  }),
  hello('dots in names cut off', 'dots in a name are data', {
    decode: (text) => CORRECT.decode(text).replace(/^\.+/, ''),
  }),
  hello('escaped dots lead to another route', 'escaped dots in a name are data, or dot segments', {
    path: (target) => CORRECT.path(target).replace(/^\/hello\/%2e.*/i, '/json'),
  }),
  hello(
    'a body off by one byte',
    EVERY_ROUTE,
    onPath('/', (a) => replaceBody(a, 'Hello World')),
  ),
  hello('201', EVERY_ROUTE, onPath('/json', withStatus(201))),
  status(
    'status without its response',
    EVERY_ROUTE,
    onPath('/_/status', (a) => replaceBody(a, 'ok')),
  ),
  hello('paths without case', 'a path in another case is another path', {
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
  hello('%2F decoded before routing', 'an escaped slash in a name is data', {
    path: (target) => CORRECT.path(target).replaceAll(/%2F/gi, '/'),
  }),
  hello('a prefix is enough', 'a path that is almost a route is unknown', {
    path: (target) => (target.startsWith('/json') ? '/json' : CORRECT.path(target)),
  }),
  hello('a catch-all', 'an unknown path is 404', onStatus(404, withStatus(200))),
  hello('the query is part of the path', 'an unknown query is ignored', {
    path: (target) => target,
    decode: decodeName,
  }),
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
  hello('names decoded twice', 'a name is decoded once', {
    decode: (text) => decodeName(decodeURIComponent(text)),
  }),
  hello('names not decoded', 'a name is percent-decoded as UTF-8', { decode: (text) => text }),
  hello('names decoded as Latin-1', 'any name is greeted', {
    decode: (text) => Buffer.from(decodeURIComponent(text)).toString('latin1'),
  }),
  hello('plus as space', 'a plus in a name is a plus', {
    decode: (text) => decodeURIComponent(text.replaceAll('+', ' ')),
  }),
]
