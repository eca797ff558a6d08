import { gzipSync } from 'node:zlib'
import { headerValue } from '@startgrid/wire/request.ts'
import type { Role } from '../src/contract/probe.ts'
import type { Alteration, Asked } from './altering-proxy.ts'

type Line = Readonly<Record<string, unknown>>
type Changes = Omit<Defect, 'name' | 'role' | 'check'>

/** One way to break the contract, as a change of what apps/node sends or logs. */
export interface Defect extends Alteration {
  name: string
  role: Role
  /** The name of the check that must find it. */
  check: string
  /** A proxy in front should compress. */
  compressed?: true
  /** Changes a line of the access log. */
  log?: (line: Line) => readonly Line[]
}

const ROUTES = 'every route responds'
const UNKNOWN = 'an unknown path is 404'
const ITEMS = 'the document is the page with so many items, byte for byte; 50 where the number is absent'
const STREAMED = 'the stream adds up to the document'
const INVALID = 'items that are no whole number up to 1000 are 400'
const NEGOTIATED = 'an asset comes in a coding that the client accepts'
const LOGGED = 'every response has one line in the log, without its query'

export const DEFECTS: readonly Defect[] = [
  // What is true of every response.
  ...[
    ...['content-security-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy'],
    ...['referrer-policy', 'x-content-type-options', 'x-request-id', 'content-type'],
  ].map((name) => hello(`no ${name}`, ROUTES, { head: without(name) })),
  hello('content-type twice', ROUTES, { head: adding('content-type: text/plain; charset=utf-8') }),
  hello('x-powered-by', ROUTES, { head: adding('x-powered-by: Express') }),
  hello('HSTS over plain HTTP', ROUTES, { head: adding('strict-transport-security: max-age=1') }),
  hello('a space behind a value', ROUTES, { head: (head) => head.replace(/nosniff/, '$& ') }),
  hello('another policy', ROUTES, { head: replacing("default-src 'none'", "default-src 'self'") }),
  hello('a policy that allows more', ROUTES, { head: replacing("default-src 'none'", '$&; img-src *') }),
  hello('an id with a dot', ROUTES, { head: replacing('x-request-id: .', 'x-request-id: .') }),

  hello('another word', ROUTES, { of: to('/'), body: replacing('World', 'world') }),
  hello('other JSON', ROUTES, { of: to('/json'), body: replacing('world', 'World') }),
  hello('HTML for text', ROUTES, { of: to('/hello/'), head: replacing('text/plain', 'text/html') }),
  hello('a failing readiness', ROUTES, { of: to('/readyz'), body: replacing('pass', 'fail') }),
  hello('health that is stored', ROUTES, { head: without('cache-control') }),
  hello('a plus as a space', 'a name is percent-decoded as UTF-8, once', {
    request: replacing('a[+]b', 'a%20b'),
  }),
  hello('an empty name', 'a name is not empty', { request: replacing('/hello/ ', '/hello/x ') }),
  hello('a catch-all', UNKNOWN, { request: replacing('/favicon.ico', '/json') }),
  hello('a problem without its type', UNKNOWN, { head: replacing('problem[+]json', 'json') }),
  hello('a problem with another status', UNKNOWN, { body: replacing('404', '400') }),
  hello('a problem with a stack', UNKNOWN, { body: replacing('{', '{"stack":"at x",') }),
  hello('a stack as the detail', UNKNOWN, { body: replacing('{', '{"detail":"why\\n    at x (y.js:1:1)",') }),
  hello('a bad query', 'a query that the route does not know is ignored', {
    request: replacing('[?]x=1&x=2', '/x'),
  }),
  hello('DELETE as GET', 'another method is 404, 405 or 501', { request: replacing('^DELETE', 'GET') }),
  hello('500 for a body that is not JSON', 'another method fails, whatever its body', {
    of: ({ method }) => method === 'POST',
    head: status(500),
  }),
  hello('HEAD with a body', 'HEAD is GET without the body', { request: replacing('^HEAD', 'GET') }),

  ssr('items off by one', ITEMS, { request: replacing('items=7', 'items=8') }),
  ssr('another default', ITEMS, { request: replacing('/ ', '/?items=49 ') }),
  ssr('pages that a shared cache may keep', ITEMS, { head: replacing('private, no-store', 'no-cache') }),
  ssr('the policy of other responses', ITEMS, {
    head: replacing("script-src [^;]*; style-src 'self'; ", ''),
  }),
  ssr('styles from elsewhere', ITEMS, { head: replacing("style-src 'self'", 'style-src *') }),
  ssr('the same nonce again', ITEMS, {
    head: replacing("'nonce-[^']*'", `'nonce-${'A'.repeat(24)}'`),
    body: replacing('nonce="[^"]*"', `nonce="${'A'.repeat(24)}"`),
  }),
  ssr('a short nonce', ITEMS, {
    head: replacing("'nonce-(.{8})[^']*'", "'nonce-$1'"),
    body: replacing('nonce="(.{8})[^"]*"', 'nonce="$1"'),
  }),
  ssr('another nonce in the markup', ITEMS, { body: replacing(' nonce="', '$&B') }),
  ssr('the id not in the page', ITEMS, { body: replacing('<code>[^<]*</code>', '') }),
  ssr('no doctype', ITEMS, { body: replacing('<!DOCTYPE html>', '') }),
  ssr('the end missing', ITEMS, { body: replacing('</html>', '') }),
  ssr('another product', ITEMS, { body: replacing('<h3>', '$&Best ') }),
  ssr('items=1001 accepted', INVALID, { request: replacing('items=1001', 'items=1000') }),
  ssr('the first of two items taken', INVALID, { request: replacing('&items=6', '') }),
  ssr('another field in the errors', INVALID, { body: replacing('"field":"items"', '"field":"delay"') }),
  ssr('errors without a reason', INVALID, { body: replacing('"reason":"[^"]*"', '"reason":""') }),
  ssr('items of the stream off by one', 'the stream has the same rules for items', {
    request: replacing('items=1001', 'items=1000'),
  }),
  ssr('a delay of 5001 accepted', 'a delay that is no whole number up to 5000 is 400', {
    request: replacing('delay=500.', 'delay=0'),
  }),
  ssr('a delay of 5000 refused', 'a delay that is no whole number up to 5000 is 400', {
    request: replacing('delay=5000', 'delay=5001'),
  }),
  ssr('another word in the page', ITEMS, { body: replacing('Our teas', 'Teas') }),
  ssr('a page that is not compressed', 'a proxy in front compresses the page if the client accepts gzip', {
    compressed: true,
    head: adding('vary: accept-encoding'),
  }),

  ssr('a stream at once', 'the stream sends the shell before the slow part', { of: to('/stream') }),
  ssr('a compressed stream at once', 'a compressed stream sends the shell before the slow part, too', {
    compressed: true,
    head: adding('content-encoding: gzip'),
    body: (body) => gzipSync(body),
  }),
  ssr('half the delay', 'the slow part comes after the delay', {
    request: replacing('delay=200', 'delay=100'),
  }),
  ssr('another nonce in the stream', STREAMED, { of: to('/stream'), body: replacing(' nonce="', '$&B') }),
  ssr('the slow part missing', STREAMED, {
    body: replacing('<div hidden id="S:[\\s\\S]*?</div>(?=<script)', ''),
  }),

  ssr('JavaScript as text', 'every asset has its type and may be kept', {
    head: replacing('(?:text|application)/javascript', 'text/plain'),
  }),
  ...['max-age=0, immutable', 'private, max-age=31536000, immutable', 'max-age=31536000'].map((kept) =>
    ssr(`cache-control: ${kept}`, 'every asset has its type and may be kept', {
      head: replacing('cache-control: public.*', `cache-control: ${kept}`),
    }),
  ),
  ssr('other bytes', 'every asset is the file that was built', {
    of: to('/assets/'),
    body: (body) => `${body} `,
  }),
  ssr('gzip where only br is accepted', NEGOTIATED, {
    request: replacing('encoding: br\r', 'encoding: gzip\r'),
  }),
  ssr('br without being asked', NEGOTIATED, { request: replacing('encoding: identity', 'encoding: br') }),
  ssr('no vary', NEGOTIATED, { head: without('vary') }),
  ssr('bytes that are not br', NEGOTIATED, { of: accepting('br'), body: () => 'no brotli' }),
  ssr('br of another file', NEGOTIATED, { of: accepting('br'), body: () => Buffer.from([0x3b]) }),
  ssr('an index of the assets', 'an unknown asset is 404', { request: replacing('/assets/x ', '/ ') }),
  ssr('a way out', 'no path leads out of the assets', { request: replacing('/assets/[.][.]%2f\\S*', '/') }),

  hello('500 for a body on GET', 'a body on GET is ignored or refused', {
    of: ({ headers }) => headerValue(headers, 'content-type') !== undefined,
    head: status(500),
  }),
  hello('413 one byte too early', 'a body of exactly the limit is not too large', { head: status(413) }),
  hello('a body as a request', 'a body over the limit is refused or left unread, and is no request', {
    request: replacing('content-length: .*\r\n', ''),
  }),
  hello('500 for chunks', 'a chunked body over the limit is refused or left unread, and is no request', {
    of: ({ method }) => method === 'POST',
    head: status(500),
  }),

  hello('ids of our own', 'a valid x-request-id is kept', { head: replacing('x-request-id: ', '$&own-') }),
  hello('a part of an id kept', 'an invalid x-request-id is replaced', {
    of: ({ headers }) => headerValue(headers, 'x-request-id') === 'a b',
    head: replacing('x-request-id: .*', 'x-request-id: a'),
  }),
  hello('an id of 65 characters kept', 'an invalid x-request-id is replaced', {
    head: replacing('x-request-id: .*', `x-request-id: ${'a'.repeat(65)}`),
  }),
  hello('the same id again', ROUTES, { head: replacing('x-request-id: .*', 'x-request-id: same') }),

  hello('closed after HEAD', 'a connection is usable after every kind of response', {
    of: ({ method }) => method === 'HEAD',
    closes: true,
  }),
  hello('no keep-alive', 'a connection is usable after every kind of response', {
    head: replacing('connection: .*', 'connection: close'),
  }),
  hello('pipelining out of order', 'pipelined requests get their responses in order', {
    request: (text) => text.replace(/^(.*?\r\n\r\n)(.*?\r\n\r\n)/s, '$2$1'),
  }),
  hello('responses mixed up', '100 requests at once are not mixed up', {
    head: replacing('x-request-id: .*', 'x-request-id: concurrent-0'),
  }),

  hello('no line', LOGGED, { log: ({ status, ...line }) => (status === 404 ? [] : [{ status, ...line }]) }),
  hello('two lines', LOGGED, { log: (line) => [line, line] }),
  ...['method', 'path', 'status', 'ms', 'client', 'requestId'].map((field) =>
    hello(`a line without ${field}`, LOGGED, { log: (line) => [{ ...line, [field]: undefined }] }),
  ),
  hello('a line with the query', LOGGED, { log: (line) => [{ ...line, url: `${line.path}?secret=1` }] }),
  hello('the path as the route', 'the log has the route as it is registered', {
    log: (line) => [{ ...line, route: line.path }],
  }),
  hello('a logged cookie', 'the log has no credentials', {
    log: (line) => [{ ...line, cookie: 'session=c0nf0rmance-secret' }],
  }),
  ssr('no line after an abort', 'a response that the client did not wait for has a line in the log', {
    log: (line) => (line.path === '/stream' ? [] : [line]),
  }),
  hello('a logged probe', 'probes are not logged', {
    log: (line) => [line, { ...line, requestId: 'logged-probe' }],
  }),
]

function hello(name: string, check: string, changes: Changes): Defect {
  return { name, role: 'hello', check, ...changes }
}

function ssr(name: string, check: string, changes: Changes): Defect {
  return { name, role: 'ssr', check, ...changes }
}

/** Replaces all that a pattern matches, in a text without case and line by line, or in a body. */
function replacing(pattern: string, by: string): (text: string | Buffer) => string {
  return (text) => text.toString().replace(new RegExp(pattern, 'gim'), by)
}

function without(name: string): (head: string) => string {
  return replacing(`^${name}: .*\r\n`, '')
}

function adding(header: string): (head: string) => string {
  return (head) => `${head}${header}\r\n`
}

function status(code: number): (head: string) => string {
  return replacing('^(HTTP/1.1) \\d+', `$1 ${code}`)
}

function to(path: string): (request: Asked) => boolean {
  return ({ target }) => (path.length > 1 ? target.startsWith(path) : target === path)
}

function accepting(coding: string): (request: Asked) => boolean {
  return ({ headers }) => headerValue(headers, 'accept-encoding') === coding
}
