import { gzipSync } from 'node:zlib'
import type { Capability, Role } from '../../src/contract/subject.ts'
import { headerValue } from '../../src/http/header.ts'
import {
  asProblem,
  decodeName,
  isOn,
  onAssets,
  onOptions,
  onPath,
  onStatus,
  withHeader,
  withStatus,
} from './alterations.ts'
import { problemText } from './app.ts'
import { type Behaviour, CORRECT, compress, type LogLine } from './behaviour.ts'
import { type Outgoing, replaceBody, replaceHeader } from './message.ts'

/** One way to break the contract, and the check that must notice. */
export interface Defect {
  name: string
  role: Role
  check: string
  behaviour: Partial<Behaviour>
  absent?: readonly Capability[]
  /** A proxy in front compresses. */
  compressed?: true
}

const EVERY_ROUTE = 'every route answers'
const KNOWN = 'another method on a known path is 405 or 404'
const OPTIONS = 'OPTIONS on a known path names its methods, or is a method like others'
const DOCUMENT = 'the document works under its own policy'
const INVALID_ITEMS = 'items that are no whole number up to 1000 are 400'
const BAD_ESCAPE = 'an escape that does not decode is 400, 404 or data'
const TYPES = 'every asset has its type and validator'
const NEGOTIATED = 'an asset comes in a coding that the client accepts'
const MODIFIED = 'an asset that the client has is 304'
const RANGE = 'a range gets that part or the whole asset'
const UNMODIFIED = 'an asset that the client has not is 200'

const SECURITY: readonly (readonly [name: string, wrong: string])[] = [
  ['content-security-policy', "default-src 'self'"],
  ['cross-origin-opener-policy', 'unsafe-none'],
  ['cross-origin-resource-policy', 'same-site'],
  ['referrer-policy', 'origin'],
  ['x-content-type-options', 'NOSNIFF'],
]

const headers: readonly Defect[] = [
  ...SECURITY.flatMap(([name, wrong]): Defect[] => [
    hello(`${name} missing`, EVERY_ROUTE, withHeader(name)),
    hello(`${name} wrong`, EVERY_ROUTE, withHeader(name, wrong)),
    hello(
      `${name} missing on 404 only`,
      'an unknown path is 404',
      onStatus(404, (a) => replaceHeader(a, name)),
    ),
  ]),
  hello(
    'x-content-type-options twice',
    EVERY_ROUTE,
    withHeader('x-content-type-options', 'nosniff', 'nosniff'),
  ),
  hello('x-powered-by', EVERY_ROUTE, withHeader('x-powered-by', 'Express')),
  hello('server', EVERY_ROUTE, withHeader('server', 'nginx')),
  hello('strict-transport-security', EVERY_ROUTE, withHeader('strict-transport-security', 'max-age=1')),
  hello('set-cookie', EVERY_ROUTE, withHeader('set-cookie', 'a=b')),
  hello('access-control-allow-origin', EVERY_ROUTE, withHeader('access-control-allow-origin', '*')),
  hello('no content-type', EVERY_ROUTE, withHeader('content-type')),
  hello('another charset', EVERY_ROUTE, withHeader('content-type', 'text/plain; charset=iso-8859-1')),
  hello(
    'content-length twice',
    EVERY_ROUTE,
    onPath('/json', (a) => replaceHeader(a, 'content-length', '17', '17')),
  ),
  hello('two spaces in a header', EVERY_ROUTE, {
    bytes: (bytes) => replaceBytes(bytes, 'date: ', 'date:  '),
  }),
  hello('lines that end in LF', EVERY_ROUTE, { bytes: (bytes) => replaceBytes(bytes, '\r\n', '\n') }),
  hello('bytes after a response', EVERY_ROUTE, {
    bytes: (bytes) => Buffer.concat([bytes, Buffer.from('\r\n')]),
  }),
  hello('another date format', EVERY_ROUTE, { bytes: (bytes) => replaceBytes(bytes, ' GMT', ' UTC') }),
]

const routes: readonly Defect[] = [
  hello(
    'other JSON',
    EVERY_ROUTE,
    onPath('/json', (a) => replaceBody(a, '{"hello":"World"}')),
  ),
  hello(
    'a body that is no JSON',
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

const methods: readonly Defect[] = [
  hello(
    '405 that allows POST',
    KNOWN,
    onStatus(405, (a) => replaceHeader(a, 'allow', 'GET, HEAD, POST')),
  ),
  hello(
    '405 that leaves HEAD out',
    KNOWN,
    onStatus(405, (a) => replaceHeader(a, 'allow', 'GET')),
  ),
  hello('403 for another method', KNOWN, onStatus(405, asProblem(403))),
  hello('404 with allow', KNOWN, onStatus(405, asProblem(404))),
  hello('500 for a body that is no JSON', 'another method on a known path fails, whatever its body', {
    refuse: (r) => (String(r.body) === '{"a":' ? 500 : CORRECT.refuse(r)),
  }),
  hello('a body makes another method succeed', 'another method on a known path fails, whatever its body', {
    finish: (a, r) => (a.status === 405 && r.body.length > 0 ? { ...a, status: 200 } : a),
  }),
  hello('chunked bodies are 500', 'a chunked body of another method is read or refused', {
    refuse: (r) => (r.headers.some(([name]) => name === 'transfer-encoding') ? 500 : CORRECT.refuse(r)),
  }),
  hello('405 for an unknown path', 'another method on an unknown path is 404', {
    finish: (a, r) => (a.status === 404 && r.method === 'POST' ? asProblem(405)(a) : a),
  }),
  hello('OPTIONS is 200 without allow', OPTIONS, {
    finish: (a, r) =>
      isOn(r, 'OPTIONS') ? replaceBody(replaceHeader({ ...a, status: 200 }, 'allow'), 'OK') : a,
  }),
  hello('HEAD with another length', 'HEAD is GET without the body', {
    finish: (a, r) => (isOn(r, 'HEAD') ? replaceHeader(a, 'content-length', '1') : a),
  }),
  hello(
    '405 without allow',
    KNOWN,
    onStatus(405, (a) => replaceHeader(a, 'allow')),
  ),
  hello('another method served', KNOWN, {
    finish: (a, r) => (isOn(r, 'DELETE') ? { ...a, status: 200 } : a),
  }),
  hello('TRACE echoed', 'TRACE is a method like others', {
    finish: (a, r) => (isOn(r, 'TRACE') ? { ...a, status: 200 } : a),
  }),
  hello(
    '204 with content-length: 0',
    OPTIONS,
    onOptions((a) => replaceHeader(a, 'content-length', '0')),
  ),
  hello(
    '204 with content-type',
    OPTIONS,
    onOptions((a) => replaceHeader(a, 'content-type', 'text/plain')),
  ),
  hello(
    '204 without allow',
    OPTIONS,
    onOptions((a) => replaceHeader(a, 'allow')),
  ),
  hello('a preflight allowed', 'a CORS preflight gets no more than OPTIONS', {
    finish: (a, r) =>
      r.headers.some(([name]) => name === 'origin') ? replaceHeader(a, 'access-control-max-age', '1') : a,
  }),
  hello('HEAD with a body', 'HEAD is GET without the body', {
    bytes: (bytes, { method }, { body }) => (method === 'HEAD' ? Buffer.concat([bytes, body]) : bytes),
  }),
  hello('HEAD with content-length: 0', 'HEAD is GET without the body', {
    finish: (a, r) => (isOn(r, 'HEAD') ? replaceHeader(a, 'content-length', '0') : a),
  }),
  hello('HEAD is 404', 'HEAD is GET without the body', {
    finish: (a, r) => (isOn(r, 'HEAD') ? { ...a, status: 404 } : a),
  }),
  hello('HEAD of 404 with a body', 'HEAD of an error is its GET without the body', {
    bytes: (bytes, { method }, { status, body }) =>
      method === 'HEAD' && status === 404 ? Buffer.concat([bytes, body]) : bytes,
  }),
]

const refusals: readonly Defect[] = [
  hello('bad escapes are 500', BAD_ESCAPE, onStatus(400, asProblem(500))),
  hello('the cause of a 400 in the body', BAD_ESCAPE, {
    finish: (a) =>
      a.status === 400
        ? replaceBody(a, '{"type":"about:blank","title":"Bad Request","status":400,"stack":"at x"}')
        : a,
  }),
  hello('a bad escape that another route gets', BAD_ESCAPE, {
    refuse: () => undefined,
    decode: decodeName,
    path: (target) => (target.startsWith('/livez') ? '/livez' : CORRECT.path(target)),
  }),
  hello('an escaped NUL ends the path', 'an escaped NUL is 400, 404 or data', {
    refuse: () => undefined,
    decode: decodeName,
    path: (target) => CORRECT.path(target).replace(/%00.*/, ''),
  }),
  hello('a bad escape is 500 to POST', 'an escape that does not decode fails with every method', {
    finish: (a, r) => (a.status === 400 && isOn(r, 'POST') ? asProblem(500)(a) : a),
  }),
  hello('two Hosts accepted by POST', 'two Host headers are 400 with every method', {
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
  hello('OPTIONS * is 500', 'OPTIONS * is a request or refused', { garbage: 500 }),
  hello(
    'a large body accepted where another method is not',
    'a body over the limit is refused or left unread',
    {
      finish: (a, r) => (isOn(r, 'PUT') && (r.length ?? 0) > 65_536 ? { ...a, status: 200 } : a),
    },
  ),
  hello(
    '500 for a large body',
    'a body over the limit on an unknown path is 404 or refused',
    onStatus(413, asProblem(500)),
  ),
  hello('500 for a body on GET', 'a body on GET is ignored or refused', {
    refuse: (r) => (r.length && isOn(r, 'GET') ? 500 : CORRECT.refuse(r)),
  }),
  hello('two Hosts accepted', 'two Host headers are 400', {
    refuse: (r) => (r.length ? CORRECT.refuse(r) : undefined),
  }),
  hello('any Host accepted', 'a Host that is no host is 400', {
    refuse: (r) => CORRECT.refuse({ ...r, headers: r.headers.filter(([name]) => name !== 'host') }),
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
  hello('8 KiB of headers', 'a header section of 12 KiB is read', { headerLimit: 8192 }),
  hello('8 KiB of request line', 'a request line of 12 KiB is read', { headerLimit: 8192 }),
  hello('32 KiB of headers', 'a header section over 16 KiB is 431 or 414', { headerLimit: 32_768 }),
  hello('32 KiB of request line', 'a request line over 16 KiB is 431 or 414', { headerLimit: 32_768 }),
]

const ids: readonly Defect[] = [
  hello(
    'ids not kept by 405',
    'a valid x-request-id is kept by refusals',
    onStatus(405, (a) => replaceHeader(a, 'x-request-id', crypto.randomUUID())),
  ),
  hello('ids not kept', 'a valid x-request-id is kept', { requestId: () => crypto.randomUUID() }),
  hello('ids of 64 characters not kept', 'a valid x-request-id is kept', {
    requestId: ([id = '', ...rest]) => CORRECT.requestId(id.length > 63 ? [] : [id, ...rest]),
  }),
  hello('every id kept', 'an invalid x-request-id is replaced', {
    requestId: ([id]) => id ?? crypto.randomUUID(),
  }),
  hello('ids of 65 characters kept', 'an invalid x-request-id is replaced', {
    requestId: ([id = '']) => (id.length === 65 ? id : CORRECT.requestId([id])),
  }),
  hello('the first of two ids kept', 'two x-request-id headers are replaced by one', {
    requestId: (values) => CORRECT.requestId(values.slice(0, 1)),
  }),
  hello('two ids joined', 'two x-request-id headers are replaced by one', {
    requestId: (values) => (values.length > 1 ? values.join(', ') : CORRECT.requestId(values)),
  }),
  hello('ids reused', 'a request without x-request-id gets a fresh one', {
    requestId: (values) => (values.length === 0 ? 'always-the-same' : CORRECT.requestId(values)),
  }),
  hello(
    'no id on 404',
    'an unknown path is 404',
    onStatus(404, (a) => replaceHeader(a, 'x-request-id')),
  ),
]

const health: readonly Defect[] = [
  status(
    'health without no-store',
    'livez and readyz pass and are not stored',
    onPath('/livez', (a) => replaceHeader(a, 'cache-control')),
  ),
  status('readyz missing', 'livez and readyz pass and are not stored', {
    path: (t) => (t === '/readyz' ? '/x' : CORRECT.path(t)),
  }),
  status(
    'health with more in it',
    'livez and readyz pass and are not stored',
    onPath('/livez', (a) => replaceBody(a, '{"status":"pass","version":"1"}')),
  ),
  status('406 for another type', 'livez and readyz whatever the client accepts', {
    refuse: (r) => (r.headers.some(([, value]) => value === 'text/html') ? 404 : CORRECT.refuse(r)),
  }),
  status(
    'no-store on 405',
    'the refusal of another method on livez and readyz has no cache-control',
    onStatus(405, (a) => replaceHeader(a, 'cache-control', 'no-store')),
  ),
  status('the route of another role', 'a route of another role is unknown', {
    path: (t) => (t === '/json' ? '/_/status' : CORRECT.path(t)),
  }),
]

const LOGGED = 'every response has one line in the log, without its query'

/** Only lines for some responses matter; the rest is as it should be. */
function logs(change: (line: LogLine) => object | undefined): Partial<Behaviour> {
  return {
    log: (line, request) => CORRECT.log(line, request).flatMap((one) => change(one as LogLine) ?? []),
  }
}

const log: readonly Defect[] = [
  hello('no line', LOGGED, { log: () => [] }),
  hello(
    'no line for 404',
    LOGGED,
    logs((line) => (line.status === 404 ? undefined : line)),
  ),
  hello('two lines', LOGGED, { log: (line) => [line, line] }),
  hello('the query in the log', LOGGED, { log: (line, { target }) => [{ ...line, path: target }] }),
  hello('the query in another field', LOGGED, { log: (line, { target }) => [{ ...line, url: target }] }),
  hello(
    'ms as text',
    LOGGED,
    logs((line) => ({ ...line, ms: '1' })),
  ),
  hello(
    'no client',
    LOGGED,
    logs(({ client: _, ...line }) => line),
  ),
  hello(
    'another status',
    LOGGED,
    logs((line) => ({ ...line, status: 0 })),
  ),
  hello(
    'no method',
    LOGGED,
    logs(({ method: _, ...line }) => line),
  ),
  hello(
    'the id under another name',
    LOGGED,
    logs(({ requestId, ...line }) => ({ ...line, id: requestId })),
  ),
  hello(
    'no route',
    'the log has the route as it is registered',
    logs(({ route: _, ...line }) => line),
  ),
  hello(
    'the path as route',
    'the log has the route as it is registered',
    logs((line) => ({ ...line, route: line.path })),
  ),
  hello(
    'no trace id',
    'the log has the trace id of the caller',
    logs(({ trace_id: _, ...line }) => line),
  ),
  hello('another trace id', 'the log has the trace id of the caller', {
    log: (line) => [line.trace_id === undefined ? line : { ...line, trace_id: '1'.repeat(32) }],
  }),
  hello('a trace id that is not checked', 'the log has no trace id if the traceparent is not valid', {
    log: (line, { headers }) => [{ ...line, trace_id: headerValue(headers, 'traceparent')?.split('-')[1] }],
  }),
  hello('authorization in the log', 'the log has no credentials', {
    log: (line, { headers }) => [{ ...line, authorization: headerValue(headers, 'authorization') }],
  }),
  hello('cookies in the log', 'the log has no credentials', {
    log: (line, { headers }) => [{ ...line, headers: { cookie: headerValue(headers, 'cookie') } }],
  }),
  ssr('no line for aborted responses', 'a response that the client did not wait for has a line in the log', {
    log: (line, { target }) => (target.startsWith('/stream') ? [] : [line]),
  }),
  status('probes in the log', 'probes are not logged', { log: (line) => [line] }),
]

const COMPRESSED = 'a proxy in front compresses the page if the client accepts gzip'
const COMPRESSED_STREAM = 'a compressed stream sends the shell before the slow part, too'

const compression: readonly Defect[] = [
  proxied('pages are not compressed', COMPRESSED, (answer) =>
    replaceHeader(answer, 'vary', 'Accept-Encoding'),
  ),
  proxied('compressed pages without vary', COMPRESSED, (answer, request) =>
    replaceHeader(compress(answer, request), 'vary'),
  ),
  proxied('pages compressed for a client that refuses that', COMPRESSED, (answer, request) =>
    compress(answer, { ...request, headers: [['accept-encoding', 'gzip']] }),
  ),
  proxied('pages that only claim to be smaller', COMPRESSED, (answer, request) => {
    const coded = compress(answer, request)
    if (headerValue(coded.headers, 'content-encoding') === undefined || answer.late) return coded
    return replaceBody(coded, gzipSync(answer.body, { level: 0 }))
  }),
  proxied('a compressed page is another one', COMPRESSED, (answer, request) => {
    const coded = compress(answer, request)
    if (headerValue(coded.headers, 'content-encoding') === undefined || answer.late) return coded
    return replaceBody(coded, gzipSync('<!doctype html>'))
  }),
  proxied('a compressed stream comes at the end', COMPRESSED_STREAM, (answer, request) => {
    const { late, ...coded } = compress(answer, request)
    if (late === undefined || headerValue(coded.headers, 'content-encoding') === undefined)
      return late === undefined ? coded : { ...coded, late }
    return { ...coded, body: Buffer.alloc(0), late: { ...late, parts: [coded.body, ...late.parts] } }
  }),
]

function proxied(name: string, check: string, proxy: Behaviour['proxy']): Defect {
  return { name, role: 'ssr', check, behaviour: { proxy }, compressed: true }
}

const page: readonly Defect[] = [
  ssr(
    'pages that a cache may keep',
    DOCUMENT,
    onPath('/', (a) => replaceHeader(a, 'cache-control')),
  ),
  ssr(
    'pages that a shared cache may keep',
    DOCUMENT,
    onPath('/', (a) => replaceHeader(a, 'cache-control', 'no-cache')),
  ),
  ssr(
    'fragments that a cache may keep',
    EVERY_ROUTE,
    onPath('/partial', (a) => replaceHeader(a, 'cache-control')),
  ),
  ssr(
    'fonts not allowed',
    DOCUMENT,
    onPath('/', (a) =>
      replaceHeader(
        a,
        'content-security-policy',
        String(headerValue(a.headers, 'content-security-policy')).replace(" font-src 'self';", ''),
      ),
    ),
  ),
  ssr('no errors of a validation', INVALID_ITEMS, onStatus(400, asProblem(400))),
  ssr('another field in the errors', INVALID_ITEMS, {
    finish: (a) => (a.status === 400 ? replaceBody(a, problemText(400, 'delay')) : a),
  }),
  ssr('errors without a reason', INVALID_ITEMS, {
    finish: (a) =>
      a.status === 400 ? replaceBody(a, String(a.body).replace(/"reason":"[^"]*"/, '"reason":""')) : a,
  }),
  ssr('a stack as the reason', INVALID_ITEMS, {
    finish: (a) =>
      a.status === 400 ? replaceBody(a, String(a.body).replace('in range', 'in range\\n  at x')) : a,
  }),
  ssr('nonces reused', DOCUMENT, { nonce: () => 'AAAAAAAAAAAAAAAAAAAAAAAA' }),
  ssr('a short nonce', DOCUMENT, { nonce: () => crypto.randomUUID().slice(0, 16) }),
  ssr('another nonce in the markup', DOCUMENT, {
    html: (html, nonce) => html.replaceAll(nonce, 'B'.repeat(24)),
  }),
  ssr('a script without a nonce', DOCUMENT, { html: (html, nonce) => html.replace(` nonce="${nonce}"`, '') }),
  ssr('an inline style', DOCUMENT, { html: (html) => html.replace('<main>', '<main style="color:red">') }),
  ssr('a style element', DOCUMENT, { html: (html) => html.replace('</head>', '<style>a{}</style></head>') }),
  ssr('an inline handler', DOCUMENT, { html: (html) => html.replace('<main>', '<main onclick="f()">') }),
  ssr('the id not in the page', DOCUMENT, {
    html: (html) => html.replace(/<code>[^<]*<\/code>/, '<code></code>'),
  }),
  ssr('no doctype', DOCUMENT, { html: (html) => html.replace('<!DOCTYPE html>', '') }),
  ssr(
    'the plain policy on the document',
    DOCUMENT,
    onPath('/', (a) =>
      replaceHeader(a, 'content-security-policy', "default-src 'none'; frame-ancestors 'none'"),
    ),
  ),
  ssr(
    'the page policy on 404',
    'an unknown path is 404',
    onStatus(404, (a) =>
      replaceHeader(a, 'content-security-policy', "default-src 'none'; script-src 'nonce-x'"),
    ),
  ),
  ssr('another word in the page', 'the document is the page, byte for byte', {
    html: (html) => html.replace('Our teas', 'Teas'),
  }),
  ssr('a time in the page', 'two equal requests differ only in id and nonce', {
    html: (html) => html.replace('Our teas', `Our teas at ${process.hrtime.bigint()}`),
  }),
  ssr('no script', 'the page loads its assets', {
    html: (html) => html.replace(/<script type="module".*?<\/script>/, ''),
  }),
  ssr('items off by one', 'items is the number of products', {
    count: (values, fallback, max) => offByOne(CORRECT.count(values, fallback, max), max),
  }),
  ssr('another default', 'items is 50 where it is absent', {
    count: (values, _, max) => CORRECT.count(values, 49, max),
  }),
  ssr('items[] read as items', 'items is 50 where it is absent', {
    path: (target) => CORRECT.path(target),
    refuse: (r) => (r.target.includes('items[]') ? 400 : CORRECT.refuse(r)),
  }),
  ssr('items=5a accepted', INVALID_ITEMS, lenient(/^\d[a-z]+$/, Number.parseFloat)),
  ssr(
    'items=.5 accepted',
    INVALID_ITEMS,
    lenient(/^0?\.5$/, () => 0),
  ),
  ssr(
    'items=-1 accepted',
    INVALID_ITEMS,
    lenient(/^-1$/, () => 0),
  ),
  ssr(
    'items=05 read as octal',
    'another spelling of a number is that number or 400',
    lenient(/^005$/, () => 8),
  ),
  ssr(
    'items=1e3 read as 1',
    'another spelling of a number is that number or 400',
    lenient(/^1e3$/i, (text) => Number.parseInt(text, 10)),
  ),
  ssr(
    'items= is the default',
    'another spelling of a number is that number or 400',
    lenient(/^$/, () => 50),
  ),
  ssr('a delay of 5001 accepted', 'a delay that is no whole number up to 5000 is 400', {
    count: (values, fallback, max) => CORRECT.count(values, fallback, max === 5000 ? 5001 : max),
  }),
  ssr('items=1001 accepted', INVALID_ITEMS, {
    count: (values, fallback) => CORRECT.count(values, fallback, 1001),
  }),
  ssr('the first of two items taken', 'items given twice are 400', {
    count: (values, fallback, max) => CORRECT.count(values.slice(0, 1), fallback, max),
  }),
  ssr('a bad query refused', 'items are read among other parameters', {
    refuse: (r) => (r.target.includes('%zz') ? 400 : CORRECT.refuse(r)),
  }),
  ssr('a wrong locale falls back', 'an unknown locale or slug is 404', {
    decode: (text) => text.replace(/^(?:en|xx)$/, 'en-US'),
  }),
  ssr('locales without case', 'an unknown locale or slug is 404', {
    decode: (text) => text.replace(/^en-us$/i, 'en-US'),
  }),
  ssr('slugs not decoded', 'locale and slug are percent-decoded', { decode: (text) => text }),
  ssr('one fragment in all languages', 'a fragment for every locale and slug', {
    decode: (text) => text.replace('de-DE', 'en-US'),
  }),
  ssr(
    'a document as fragment',
    EVERY_ROUTE,
    onPath('/partial', (a) => replaceBody(a, `<html><body>${a.body}</body></html>`)),
  ),
]

const stream: readonly Defect[] = [
  ssr('the stream buffered', 'the stream sends the shell before the slow part', {
    finish: (a) =>
      a.late ? { ...a, body: Buffer.alloc(0), late: { ...a.late, parts: [a.body, ...a.late.parts] } } : a,
  }),
  ssr('the shell without products', 'the stream sends the shell before the slow part', {
    parts: (html, nonce) => {
      const [shell, late, end] = CORRECT.parts(html, nonce)
      const at = shell.indexOf('<ul')
      return [shell.slice(0, at), shell.slice(at) + late, end]
    },
  }),
  ssr('the slow part missing', 'the stream adds up to the document', {
    parts: (html, nonce) => CORRECT.parts(html, nonce).with(1, '') as [string, string, string],
  }),
  ssr('the slow part with the shell', 'the stream sends the shell before the slow part', {
    parts: (html) => [html.replace('</body></html>', ''), '', '</body></html>'],
  }),
  ssr('the end missing', 'the stream adds up to the document', {
    parts: (html, nonce) => CORRECT.parts(html, nonce).with(2, '') as [string, string, string],
  }),
  ssr('the delay ignored', 'the slow part comes after the delay', { wait: () => 0 }),
  ssr('half the delay', 'the slow part comes after the delay', { wait: (ms) => ms / 2 }),
  ssr('a delay of 5000 refused', 'a delay of 5000 is accepted, and the client may leave', {
    refuse: (r) => (r.target.includes('delay=5000') ? 400 : CORRECT.refuse(r)),
  }),
  ssr('a script of the stream without a nonce', 'the stream adds up to the document', {
    parts: (html, nonce) =>
      CORRECT.parts(html, nonce).map((part) => part.replace(` nonce="${nonce}">$RC`, '>$RC')) as [
        string,
        string,
        string,
      ],
  }),
  ssr('items ignored by the stream', 'the stream has the same rules for items', {
    html: (html) => html.replace(/<ul class="teas">.*?<\/ul>/, '<ul class="teas"></ul>'),
  }),
  ssr('the stream with a length', 'the stream is chunked, or ends with the connection in HTTP/1.0', {
    finish: (a) => (a.late ? settled(a) : a),
  }),
  { ...ssr('a stream that should be absent', 'an absent stream is unknown', {}), absent: ['stream'] },
  ssr('POST streams', 'another method on the stream does not wait', onStatus(405, withStatus(200))),
]

const assets: readonly Defect[] = [
  ssr('gzip where only br is accepted', NEGOTIATED, {
    negotiate: (accepted) => (accepted === 'br' ? 'gzip' : CORRECT.negotiate(accepted)),
  }),
  ssr('304 for a date without last-modified', 'a date is a validator only where the asset has one', {
    finish: (a, r) => (r.headers.some(([name]) => name === 'if-modified-since') ? { ...a, status: 304 } : a),
  }),
  ssr('304 for an early date', 'a date is a validator only where the asset has one', {
    finish: (a, r) => {
      const dated = a.status === 200 && r.target.startsWith('/assets/')
      if (r.headers.some(([, value]) => value.includes('1970'))) return { ...a, status: 304 }
      return dated ? replaceHeader(a, 'last-modified', new Date(0).toUTCString()) : a
    },
  }),
  ssr(
    'last-modified in another format',
    TYPES,
    onAssets((a) => replaceHeader(a, 'last-modified', '2026-01-01T00:00:00Z')),
  ),
  ssr('another part than asked for', RANGE, {
    finish: (a, r) =>
      r.headers.some(([, value]) => value === 'bytes=0-9')
        ? {
            ...replaceHeader(
              replaceBody(a, a.body.subarray(1, 11)),
              'content-range',
              `bytes 0-9/${a.body.length}`,
            ),
            status: 206,
          }
        : a,
  }),
  ssr('206 without content-range', RANGE, {
    finish: (a, r) => (r.headers.some(([, value]) => value === 'bytes=0-') ? { ...a, status: 206 } : a),
  }),
  ssr('a part of another version', RANGE, {
    finish: (a, r) =>
      r.headers.some(([, value]) => value === '"another"')
        ? {
            ...replaceHeader(
              replaceBody(a, a.body.subarray(0, 10)),
              'content-range',
              `bytes 0-9/${a.body.length}`,
            ),
            status: 206,
          }
        : a,
  }),
  ssr('500 for a range that is none', RANGE, {
    finish: (a, r) =>
      r.headers.some(([, value]) => value === 'bytes=99999999-') ? { ...a, status: 500 } : a,
  }),
  ssr(
    'a type without charset',
    TYPES,
    onAssets((a) => replaceHeader(a, 'content-type', 'text/javascript')),
  ),
  ssr(
    'assets not immutable',
    TYPES,
    onAssets((a) => replaceHeader(a, 'cache-control', 'public, max-age=0')),
  ),
  ssr(
    'no etag',
    TYPES,
    onAssets((a) => replaceHeader(a, 'etag')),
  ),
  ssr('an etag without quotes', TYPES, { etag: () => 'abc' }),
  ssr(
    'no vary',
    TYPES,
    onAssets((a) => replaceHeader(a, 'vary')),
  ),
  ssr(
    'content-encoding: identity',
    TYPES,
    onAssets((a) => replaceHeader(a, 'content-encoding', 'identity')),
  ),
  ssr(
    'other bytes',
    'every asset is the file that was built',
    onAssets((a) => replaceBody(a, Buffer.concat([a.body, Buffer.from(' ')]))),
  ),
  ssr('identity where br is accepted', NEGOTIATED, { negotiate: () => undefined }),
  ssr('br in brotli', NEGOTIATED, {
    negotiate: (accepted = '') => (/br/.test(accepted) ? 'br' : CORRECT.negotiate(accepted)),
  }),
  ssr('br without being asked', NEGOTIATED, { negotiate: (accepted) => CORRECT.negotiate(accepted ?? 'br') }),
  ssr('bytes that are not br', NEGOTIATED, { finish: (a) => (isCoded(a) ? replaceBody(a, 'no brotli') : a) }),
  ssr('br of another file', NEGOTIATED, {
    finish: (a) => (isCoded(a) ? replaceBody(a, Buffer.from([0x3b])) : a),
  }),
  ssr('q=0 ignored', 'a coding with q=0 is not accepted', {
    negotiate: (accepted = '') => CORRECT.negotiate(accepted.replace(/;.*?(?=,|$)/g, '')),
  }),
  ssr('q=0.000 ignored', 'a coding with q=0 is not accepted', {
    negotiate: (accepted = '') => CORRECT.negotiate(accepted.replaceAll('q=0.000', 'q=1')),
  }),
  ssr('one etag for all codings', 'each coding of an asset has an etag of its own', { etag: () => 'W/"1"' }),
  ssr('etags compared strongly', MODIFIED, {
    matches: (condition, etag) => condition.split(/ *, */).includes(etag) || condition === '*',
  }),
  ssr('only one etag read', MODIFIED, {
    matches: (condition, etag) => condition === '*' || condition.replace(/^W\//, '') === etag,
  }),
  ssr('* not read', MODIFIED, {
    matches: (condition, etag) => condition !== '*' && CORRECT.matches(condition, etag),
  }),
  ssr('304 with a body', MODIFIED, {
    bytes: (bytes, _, { status }) => (status === 304 ? Buffer.concat([bytes, Buffer.from('x')]) : bytes),
  }),
  ssr(
    '304 with content-type',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'content-type', 'text/css')),
  ),
  ssr(
    '304 with content-length',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'content-length', '0')),
  ),
  ssr(
    '304 with content-encoding',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'content-encoding', 'br')),
  ),
  ssr(
    '304 without etag',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'etag')),
  ),
  ssr(
    '304 without cache-control',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'cache-control')),
  ),
  ssr(
    '304 without the security headers',
    MODIFIED,
    onStatus(304, (a) => replaceHeader(a, 'referrer-policy')),
  ),
  ssr('no 304', MODIFIED, { matches: () => false }),
  ssr('304 for any etag', UNMODIFIED, { matches: () => true }),
  ssr('304 for a part of the etag', UNMODIFIED, {
    matches: (condition, etag) => etag.includes(condition.slice(0, -1)),
  }),
  ssr('siblings served', 'a compressed sibling is no asset of its own', {
    asset: (name) => (/\.(?:br|gz)$/.test(name) ? `./${name}` : name),
  }),
  ssr('an index of the directory', 'the directory of the assets is 404 or 403', {
    path: (t) => (t === '/assets/' ? '/' : CORRECT.path(t)),
  }),
  ssr(
    'a 404 that is cached',
    'an unknown asset is 404',
    onStatus(404, (a) => replaceHeader(a, 'cache-control', 'public, max-age=31536000, immutable')),
  ),
  ssr('a way out', 'no path leads out of the assets', {
    asset: (name) => (decodeName(name).includes('../') ? `./${decodeName(name)}` : name),
  }),
  ssr('HEAD of an asset without its coding', 'HEAD of an asset follows its coding and its validator', {
    finish: (a, r) => (isOn(r, 'HEAD') ? replaceHeader(a, 'content-encoding') : a),
  }),
]

const connections: readonly Defect[] = [
  hello('dead after 404', 'a connection is usable after every kind of response', {
    staysOpen: ({ status }) => status !== 404,
  }),
  hello('dead after HEAD', 'a connection is usable after every kind of response', {
    staysOpen: (_, r) => !isOn(r, 'HEAD'),
  }),
  hello('dead after OPTIONS', 'a connection is usable after every kind of response', {
    staysOpen: (_, r) => !isOn(r, 'OPTIONS'),
  }),
  ssr('dead after 304', 'a connection is usable after every kind of response', {
    staysOpen: ({ status }) => status !== 304,
  }),
  hello('connection: close ignored', 'connection: close is honoured', { staysOpen: () => true }),
  hello('HTTP/1.0 kept open', 'HTTP/1.0 is answered and closed, with and without Host', {
    staysOpen: () => true,
  }),
  hello('the head in one piece or not at all', 'a request may arrive byte by byte', { patient: false }),
  hello('the head in one piece or nothing', 'a request may be split anywhere', { patient: false }),
  hello('no 100 where it is expected', 'Expect: 100-continue is answered', { continues: false }),
  hello('garbage answered 200', 'what is no HTTP is 400 or a closed connection', { garbage: 200 }),
  hello('no keep-alive', 'a connection serves 50 requests', { staysOpen: () => false }),
  hello('pipelining out of order', 'pipelined requests are answered in order', {
    inOrder: false,
    pause: ({ headers }) => (headers.some(([, value]) => value === 'pipelined-3') ? 20 : 0),
  }),
  ssr('closed after a stream', 'requests behind a stream are answered after it', {
    staysOpen: ({ late }) => late === undefined,
  }),
  hello('the id of the request before', 'pipelined requests are answered in order', mixedUp()),
  hello('answers mixed up', '100 requests at once are not mixed up', mixedUp()),
  hello('505 for HTTP/1.0', 'HTTP/1.0 is answered and closed, with and without Host', {
    finish: (a, r) => (r.version === '1.0' ? { ...a, status: 505 } : a),
  }),
]

function hello(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'hello', check, behaviour }
}

function status(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'status', check, behaviour }
}

function ssr(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'ssr', check, behaviour }
}

/** Takes what the pattern takes beside the plain decimals. */
function lenient(pattern: RegExp, read: (text: string) => number): Partial<Behaviour> {
  return {
    count: ([value, ...rest], fallback, max) =>
      value !== undefined && pattern.test(value)
        ? read(value)
        : CORRECT.count(value === undefined ? [] : [value, ...rest], fallback, max),
  }
}

function offByOne(count: number | undefined, max: number): number | undefined {
  return count === undefined ? undefined : Math.min(max, count + 1)
}

function isCoded({ headers, status }: Outgoing): boolean {
  return status === 200 && headers.some(([, value]) => value === 'br')
}

function settled({ status, headers, body, late }: Outgoing): Outgoing {
  const whole = Buffer.concat([body, ...(late?.parts ?? [])])
  return replaceBody({ status, headers, body }, whole)
}

/** Each answer carries the id of the request before. */
function mixedUp(): Partial<Behaviour> {
  let before = 'none'
  return {
    requestId: ([id = 'none']) => {
      const given = before
      before = id
      return given
    },
  }
}

function replaceBytes(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1')
}

export const DEFECTS: readonly Defect[] = [
  ...headers,
  ...routes,
  ...methods,
  ...refusals,
  ...ids,
  ...health,
  ...log,
  ...page,
  ...compression,
  ...stream,
  ...assets,
  ...connections,
]
