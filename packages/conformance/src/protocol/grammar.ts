import type { Random } from '@startgrid/stats/random.ts'

/**
 * Random requests, made of mostly valid parts, and sometimes damaged byte by byte. HEAD is left out: if the server read another method,
 * the reader could not know whether a body follows.
 */

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']
const ODD_METHODS = [
  '',
  'get',
  'BREW',
  'CONNECT',
  'PRI',
  'G(T',
  'GET\0',
  '\x80',
  '\r\nGET',
  ' GET',
  'M'.repeat(300),
]
const ROUTES = ['/', '/json', '/hello/x', '/livez', '/readyz', '/_/status', '/?items=1']
const ODD_TARGETS = [
  ...[
    '*',
    '',
    '//',
    '/..',
    '/../..',
    '/./x',
    '\\',
    '/%',
    '/%zz',
    '/%00',
    '/%FF',
    '/%C0%AF',
    '/#x',
    '/ x',
    '/\tx',
    '/\0',
  ],
  ...[
    '/\xff',
    '/\xc3\xa9',
    'x',
    '?',
    '/?',
    '/??',
    '/?items=-1',
    '/?items=1e9',
    '/?items=1&items=2',
    '/?%zz',
    '/?__proto__=1',
  ],
  ...[
    'http://app.test/',
    'http://',
    'http:///x',
    'HTTP://app.test',
    'http://[::1',
    'http://x@app.test/',
    'ftp://app.test/',
  ],
  ...[
    'app.test:80',
    'http://app.test:99999/',
    '/hello/%F0%9F%98%80',
    '/hello/%ED%A0%80',
    '/hello/..%2f..',
    '/assets/..%2f..%2fx',
  ],
  ...[
    '/assets/',
    '/hello/__proto__',
    '/constructor',
    '/%5c..%5c',
    `/${'x'.repeat(9_000)}`,
    `/?${'a=b&'.repeat(2_000)}`,
  ],
]
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0']
const ODD_VERSIONS = [
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.10',
  'HTTP/1.',
  'HTTP/11',
  'http/1.1',
  'HTTQ/1.1',
  '',
  'HTTP/1.1 ',
  'HTTP/1.1 x',
]
const ODD_SPACES = ['', '  ', '\t', '\x0b', '\r', '\0', '\xa0']
const ODD_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '\r\n\r\n', '']
const HOSTS = ['Host: app.test', 'host: app.test:80', 'HOST:app.test', 'Host: [::1]:80']
const ODD_HOSTS = [
  '',
  'Host:',
  'Host: a b',
  'Host: a/b',
  'Host: x@a',
  'Host: a,b',
  'Host: \xe9',
  'Host : a',
  'Host: a\r\nHost: b',
  'Host: a:b',
  'Host: [',
]
const FIELDS = [
  ...[
    'Accept: */*',
    'Accept-Encoding: br;q=0, gzip',
    'Connection: keep-alive',
    'Connection: close',
    'User-Agent: x',
    'X-Odd:',
  ],
  ...[
    'Expect: 100-continue',
    'Range: bytes=0-1',
    'If-None-Match: *',
    'Content-Type: application/json',
    'Upgrade: h2c',
    'TE: trailers',
  ],
  ...[
    'X-Forwarded-For: 1.2.3.4, x',
    'Forwarded: for=x',
    'Cookie: a=b; c',
    'Connection: Upgrade',
    'Expect: 200-ok',
    'Trailer: x',
  ],
]
const ODD_FIELDS = [
  ...[
    ' X: y',
    ': y',
    'X',
    'X : y',
    'X\t: y',
    'X: y\0',
    'X: y\rz',
    'X: y\n z',
    'X: y\r\n z',
    'X\0: y',
    'X\xe9: y',
    'X(: y',
    'X: \x01\x7f',
  ],
  ...[
    'X-Request-Id: \xff',
    'x_request_id: a',
    'Connection: Host, X-Request-Id, Content-Length',
    'Connection: \0',
    'Transfer-Encoding',
    '__proto__: x',
  ],
  ...[
    'Expect: \x01',
    'X-Forwarded-For: \xff',
    'If-None-Match: "',
    'Accept-Encoding: ;;q=',
    `X: ${'y'.repeat(9_000)}`,
    'X: y\r\n'.repeat(150),
  ],
]
const LENGTHS = [
  '0',
  '5',
  '05',
  '1',
  '999',
  '+5',
  '-5',
  '0x5',
  '5, 5',
  '5, 6',
  '',
  ' ',
  '5 5',
  '5.0',
  '5e0',
  '65537',
  '18446744073709551621',
  '\x0b5',
  '5\0',
]
const CODINGS = [
  'chunked',
  'Chunked',
  'chunked, chunked',
  'gzip, chunked',
  'chunked, identity',
  'identity',
  'xchunked',
  'chunked;q=1',
  '"chunked"',
  '\x0bchunked',
  '',
  'chunked\0',
]
const NAMES = [
  'Content-Length',
  'Content-Length ',
  'content_length',
  'Transfer-Encoding',
  'Transfer-Encoding\t',
  'transfer_encoding',
  ' Transfer-Encoding',
]
const SIZES = [
  '5',
  '05',
  '5 ',
  ' 5',
  '-5',
  '+5',
  '0x5',
  'g',
  '',
  '5;a=b',
  '5;a\rb',
  '5;a\nb',
  '5;"',
  'FFFFFFFFFFFFFFFF',
  '10000000000000005',
  '0_5',
  '4',
  '6',
  '5\0',
]
const BYTES = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '/',
  '%',
  '#',
  '"',
  '0',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  'HTTP/1.1',
]

/** A random request. @param id its target and X-Request-Id, unless an oddity takes their place */
export function fuzzedRequest(random: Random, id: string): string {
  const line = pick(random, METHODS, ODD_METHODS) + space(random) + target(random, id) + space(random)
  const lines = [
    line + pick(random, VERSIONS, ODD_VERSIONS),
    pick(random, HOSTS, ODD_HOSTS),
    `X-Request-Id: ${id}`,
  ]
  for (let more = random() * 4; more > 1; more -= 1) lines.push(pick(random, FIELDS, ODD_FIELDS))
  const [framing, body] = framed(random)
  const request = [...lines, ...framing].map((text) => text + end(random)).join('') + end(random) + body
  return random() < 0.5 ? request : damaged(random, request)
}

function pick(random: Random, sound: readonly string[], odd: readonly string[]): string {
  return one(random, random() < 0.85 ? sound : odd)
}

function one(random: Random, list: readonly string[]): string {
  return list[Math.floor(random() * list.length)] ?? ''
}

function space(random: Random): string {
  return random() < 0.98 ? ' ' : one(random, ODD_SPACES)
}

function end(random: Random): string {
  return random() < 0.98 ? '\r\n' : one(random, ODD_ENDS)
}

function target(random: Random, id: string): string {
  return random() < 0.5 ? `/${id}` : pick(random, ROUTES, ODD_TARGETS)
}

/** A body with no field for its length, one, or two that may disagree. */
function framed(random: Random): [fields: string[], body: string] {
  const kind = random()
  if (kind < 0.4) return [[], '']
  if (kind < 0.55) return [['Content-Length: 5'], 'hello']
  if (kind < 0.7) return [['Transfer-Encoding: chunked'], chunks(random)]
  const fields = Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
    const name = one(random, NAMES)
    return `${name}: ${one(random, name.trim().toLowerCase().startsWith('t') ? CODINGS : LENGTHS)}`
  })
  return [fields, random() < 0.5 ? 'hello' : chunks(random)]
}

function chunks(random: Random): string {
  let body = ''
  for (let more = random() * 3; more > 1; more -= 1)
    body += `${(random() < 0.7 ? '5' : one(random, SIZES)) + end(random)}hello${end(random)}`
  const trailer = random() < 0.2 ? pick(random, FIELDS, ODD_FIELDS) + end(random) : ''
  return `${body}0${end(random)}${trailer}${end(random)}`
}

/** One to three bytes are put in, taken out or replaced, or a piece is repeated. */
function damaged(random: Random, request: string): string {
  let text = request
  for (let times = 1 + random() * 3; times > 1; times -= 1) {
    const at = Math.floor(random() * text.length)
    const to = at + Math.floor(random() * 20)
    const kind = random()
    if (kind < 0.3) text = text.slice(0, at) + one(random, BYTES) + text.slice(at)
    else if (kind < 0.6) text = text.slice(0, at) + text.slice(at + 1)
    else if (kind < 0.9) text = text.slice(0, at) + one(random, BYTES) + text.slice(at + 1)
    else text = text.slice(0, to) + text.slice(at)
  }
  return text
}
