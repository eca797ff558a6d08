import { asProblem, decodeName, isOn, onStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { type Defect, hello, ssr } from './defect.ts'

const BAD_ESCAPE = 'an escape that does not decode, or to NUL, is 400, 404 or data'

export const refusals: readonly Defect[] = [
  hello('a detail that is not a text', BAD_ESCAPE, onStatus(400, asProblem(400, { at: 1 }))),
  hello(
    'a stack as the detail',
    BAD_ESCAPE,
    onStatus(400, asProblem(400, 'Error: why\n    at x (y.js:1:1)')),
  ),
  hello('a bad escape is 500', BAD_ESCAPE, onStatus(400, asProblem(500))),
  hello('a bad escape that another route gets', BAD_ESCAPE, {
    refuse: () => undefined,
    decode: decodeName,
    path: (target) => (target.startsWith('/livez') ? '/livez' : CORRECT.path(target)),
  }),
  hello('an escaped NUL ends the path', BAD_ESCAPE, {
    refuse: () => undefined,
    decode: decodeName,
    path: (target) => CORRECT.path(target).replace(/%00.*/, ''),
  }),
  hello('a bad escape is 500 to POST', 'an escape that does not decode fails with every method', {
    finish: (a, r) => (a.status === 400 && isOn(r, 'POST') ? asProblem(500)(a) : a),
  }),
  hello('two Hosts accepted by POST', 'two Host headers are 400', {
    refuse: (r) => (isOn(r, 'POST') ? undefined : CORRECT.refuse(r)),
  }),
  hello('a dead connection after two Hosts', 'two Host headers are 400', {
    bytes: (bytes, _, { status }) =>
      status === 400 ? Buffer.concat([bytes, Buffer.from('HTTP/1.1 2')]) : bytes,
  }),
  hello('an asterisk is a path', 'an asterisk as the target is 400 or 404', {
    requestLine: /^([A-Z]+) (?:http:\/\/[^/?#]+)?([/*][\x21-\x7e]*) HTTP\/(1\.[01])$/,
    path: (target) => (target === '*' ? '/json' : CORRECT.path(target)),
  }),
  hello(
    'a large body accepted where another method is not',
    'a body over the limit is refused or left unread',
    {
      finish: (a, r) => (isOn(r, 'PUT') && (r.length ?? 0) > 65_536 ? { ...a, status: 200 } : a),
    },
  ),
  hello(
    '500 for a large body',
    'a body over the limit is refused or left unread',
    onStatus(413, asProblem(500)),
  ),
  hello('500 for a body on GET', 'a body on GET is ignored or refused', {
    refuse: (r) => (r.length && isOn(r, 'GET') ? 500 : CORRECT.refuse(r)),
  }),
  hello('two Hosts accepted', 'two Host headers are 400', {
    refuse: (r) => (r.length ? CORRECT.refuse(r) : undefined),
  }),
  ssr('any Host accepted for files', 'a Host that is not a host name is 400', {
    refuse: (r) => (r.target.startsWith('/assets/') ? undefined : CORRECT.refuse(r)),
  }),
  hello('a fragment cut off', 'a fragment in the target is 400', {
    refuse: (r) => CORRECT.refuse({ ...r, target: r.target.replace(/#.*/, '') }),
    path: (target) => CORRECT.path(target.replace(/#.*/, '')),
  }),
  hello('only paths accepted', 'a target with scheme and authority is its path', {
    requestLine: /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/(1\.[01])$/,
  }),
  hello('no Host accepted', 'no Host is 400 in HTTP/1.1', { allowsNoHost: true }),
  hello('413 one byte too early', 'a body of exactly the limit is not too large', {
    refuse: (r) => ((r.length ?? 0) >= 65_536 ? 413 : CORRECT.refuse(r)),
  }),
  hello('the unread body taken for a request', 'a body over the limit is refused or left unread', {
    staysOpen: () => true,
  }),
  hello('chunked bodies over the limit are 500', 'a chunked body over the limit is refused or left unread', {
    refuse: (r) => (r.body.length > 65_536 ? 500 : CORRECT.refuse(r)),
  }),
  hello('an unread body keeps its connection', 'a chunked body over the limit is refused or left unread', {
    readsOn: (r) => r.body.length <= 131_072,
  }),
  hello('8 KiB of headers', 'a header section of 12 KiB is read', { headerLimit: 8192 }),
  hello('8 KiB of request line', 'a request line of 12 KiB is read', { headerLimit: 8192 }),
  hello('32 KiB of headers', 'a header section over 16 KiB is 431 or 414', { headerLimit: 32_768 }),
  hello('32 KiB of request line', 'a request line over 16 KiB is 431 or 414', { headerLimit: 32_768 }),
]
