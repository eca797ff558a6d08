import { chunkedMessage, message } from './message.ts'

/** The duties of a server by RFC 9112, form by form. Sections are of RFC 9112 unless another RFC is named. */

/**
 * `reject`: respond with one of the statuses. `refuse`: the same, and close the connection. `close`: any response, then close.
 * `mend`: reject it, or read it as the RFC says. `serve`: respond to it and to the request behind it.
 */
export type Duty = 'reject' | 'refuse' | 'close' | 'mend' | 'serve'

export interface Form {
  readonly section: string
  /** A few words, unique in the list. */
  readonly name: string
  readonly duty: Duty
  /** Of a rejection; 400 by default. */
  readonly statuses?: readonly number[]
  /** The RFC says SHOULD, or only its grammar requires it. A server that deviates passes, with a note. */
  readonly advised?: boolean
  /** The request, with an id of letters, digits, dots and dashes as target and X-Request-Id. */
  bytes(id: string): string
}

type Rest = Partial<Pick<Form, 'section' | 'duty' | 'statuses' | 'advised'>>

/** Only recommended, or required only by the grammar. */
const ADVISED = { advised: true }
const NUL = '\0'
/** The last chunk, without trailers. */
const LAST = '0\r\n\r\n'
const CHUNKED = 'Transfer-Encoding: chunked'
const ABSOLUTE = 'http://app.test'

export const FORMS: readonly Form[] = [
  ...requestLines(),
  ...hosts(),
  ...fields(),
  ...lengths(),
  ...codings(),
  ...chunks(),
  expectation(),
]

/** An invalid request line SHOULD be 400 (section 3); 505 says that the version was not understood. */
function requestLines(): Form[] {
  const line = (section: string, name: string, make: (id: string) => string, rest?: Rest): Form => ({
    section,
    name,
    duty: 'refuse',
    statuses: [400, 505],
    advised: true,
    bytes: (id) => message(id, { line: make(id) }),
    ...rest,
  })
  return [
    line('2.2', 'an empty line before the request line', (id) => `\r\nGET /${id} HTTP/1.1`, {
      duty: 'serve',
    }),
    line('2.2', 'bare CR in the request line', (id) => `GET /${id}\rX HTTP/1.1`),
    line('2.2', 'whitespace before the first field', (id) => `GET /${id} HTTP/1.1\r\n X: y`, {
      duty: 'mend',
      advised: false,
    }),
    line('2.3', 'version HTTP/2.0', (id) => `GET /${id} HTTP/2.0`),
    line('2.3', 'version HTTP/0.9 with fields', (id) => `GET /${id} HTTP/0.9`),
    line('2.3', 'version HTTP/1.10', (id) => `GET /${id} HTTP/1.10`),
    line('2.3', 'version in lower case', (id) => `GET /${id} http/1.1`),
    line('2.3', 'version of another protocol', (id) => `GET /${id} HTTQ/1.1`),
    line('3', 'no version, and fields', (id) => `GET /${id}`, { duty: 'close' }),
    line('3', 'a space in the target', (id) => `GET /${id} x HTTP/1.1`),
    line('3', 'a tab after the method', (id) => `GET\t/${id} HTTP/1.1`),
    line('3', 'NUL in the target', (id) => `GET /${id}${NUL} HTTP/1.1`),
    line('3.1', 'a method that is not a token', (id) => `GE(T /${id} HTTP/1.1`),
    line('3.1', 'an unknown method', (id) => `BREW /${id} HTTP/1.1`, {
      duty: 'reject',
      statuses: [400, 404, 405, 501],
    }),
    line('3.2', 'a fragment in the target', (id) => `GET /${id}#x HTTP/1.1`, { duty: 'reject' }),
    line('3.2.2', 'a target with scheme and authority', (id) => `GET http://app.test/${id} HTTP/1.1`, {
      duty: 'serve',
      advised: false,
    }),
    line('3.2.3', 'a target of authority alone', () => 'GET app.test:80 HTTP/1.1', { duty: 'reject' }),
    line('3.2.3', 'CONNECT', () => 'CONNECT app.test:80 HTTP/1.1', { duty: 'close' }),
    line('3.2.4', 'an asterisk, not for OPTIONS', () => 'GET * HTTP/1.1', { duty: 'reject' }),
  ]
}

function hosts(): Form[] {
  const host = (name: string, lines: string, duty: Duty = 'reject', origin = ''): Form => ({
    section: '3.2',
    name,
    duty,
    bytes: (id) => message(id, { line: `GET ${origin}/${id} HTTP/1.1`, host: lines }),
  })
  return [
    host('no Host', ''),
    host('two Hosts', 'Host: a.test\r\nHost: b.test'),
    host('two equal Hosts', 'Host: a.test\r\nHost: a.test'),
    host('Host with a space', 'Host: a b'),
    host('Host with a path', 'Host: a.test/x'),
    host('Host with user information', 'Host: x@a.test'),
    host('Host with a port that is not a number', 'Host: a.test:http'),
    host('Host with half a bracket', 'Host: [a.test'),
    host('two Hosts and another authority in the target', 'Host: a.test\r\nHost: b.test', 'reject', ABSOLUTE),
    host('Host with user information, and an authority in the target', 'Host: x@a.test', 'reject', ABSOLUTE),
    // The grammar allows both, but no client means them.
    host('Host with a comma', 'Host: a.test,b.test', 'mend'),
    host('empty Host', 'Host:', 'mend'),
  ]
}

function fields(): Form[] {
  const field = (section: string, name: string, lines: string[], rest?: Rest): Form => ({
    section,
    name,
    duty: 'reject',
    bytes: (id) => message(id, { fields: lines }),
    ...rest,
  })
  const mend = { duty: 'mend' } as const
  return [
    field('5.1', 'space before the colon', ['X-Odd : y']),
    field('5.1', 'tab before the colon', ['X-Odd\t: y']),
    field('5.1', 'space before the colon of Content-Length', ['Content-Length : 0']),
    field('5.1', 'space before the colon of Transfer-Encoding', ['Transfer-Encoding : chunked']),
    field('5.2', 'a folded line', ['X-Odd: y', ' z'], mend),
    field('5.2', 'a folded line below an empty value', ['X-Odd:', '\tz'], mend),
    field('5', 'a field without a name', [': y'], ADVISED),
    field('5', 'a field without a colon', ['X-Odd'], ADVISED),
    field('5', 'a name that is not a token', ['X(Odd: y'], ADVISED),
    field('5', 'a name that is not ASCII', ['X\xe9: y'], ADVISED),
    field('9110 5.5', 'NUL in a value', [`X-Odd: y${NUL}z`], mend),
    field('9110 5.5', 'bare CR in a value', ['X-Odd: y\rz'], mend),
    field('9110 5.5', 'bare CR that could start a field', ['X-Odd: y\rContent-Length: 1'], mend),
    field('9110 5.5', 'other control characters in a value', ['X-Odd: y\x01\x7fz'], mend),
    field('9110 5.5', 'a value that is not ASCII', ['X-Odd: \xe9\xff'], { duty: 'serve' }),
  ]
}

/** Each has a body of 5 bytes. A server that reads another length runs into the next request. */
function lengths(): Form[] {
  const length = (name: string, lines: string[], rest?: Rest): Form => ({
    section: '6.3',
    name,
    duty: 'refuse',
    bytes: (id) => message(id, { line: `POST /${id} HTTP/1.1`, fields: lines, body: 'hello' }),
    ...rest,
  })
  return [
    length('a plain Content-Length', ['Content-Length: 5'], { duty: 'serve' }),
    length('Content-Length with a plus', ['Content-Length: +5']),
    length('Content-Length with a minus', ['Content-Length: -5']),
    length('Content-Length in hex', ['Content-Length: 0x5']),
    length('Content-Length with a fraction', ['Content-Length: 5.0']),
    length('Content-Length with an exponent', ['Content-Length: 5e0']),
    length('Content-Length with a space inside', ['Content-Length: 5 5']),
    length('Content-Length with a letter behind', ['Content-Length: 5x']),
    length('Content-Length with a vertical tab', ['Content-Length: \x0b5']),
    length('empty Content-Length', ['Content-Length:']),
    length('empty Content-Length, then another', ['Content-Length:', 'Content-Length: 5']),
    length('Content-Length over 2^64', ['Content-Length: 18446744073709551621'], { statuses: [400, 413] }),
    length('Content-Length as a list of two', ['Content-Length: 5, 6']),
    length('two Content-Lengths', ['Content-Length: 5', 'Content-Length: 6']),
    length('Content-Length as a list of one twice', ['Content-Length: 5, 5'], { duty: 'mend' }),
    length('two equal Content-Lengths', ['Content-Length: 5', 'Content-Length: 5'], { duty: 'mend' }),
  ]
}

/** Anything but a single `chunked` makes the length of the body ambiguous. NGINX responds with 501 to all of these, which is as clear. */
function codings(): Form[] {
  const coding = (section: string, name: string, lines: string[], rest?: Rest, version = '1.1'): Form => ({
    section,
    name,
    duty: 'refuse',
    statuses: [400, 501],
    bytes: (id) =>
      message(id, {
        line: `POST /${id} HTTP/${version}`,
        fields: lines,
        body: `5\r\nhello\r\n${LAST}`,
      }),
    ...rest,
  })
  const close = { duty: 'close' } as const
  return [
    coding('6.1', 'chunked', [CHUNKED], { duty: 'serve' }),
    coding('6.1', 'chunked in another case', ['Transfer-Encoding: cHuNkEd'], { duty: 'serve' }),
    coding('6.1', 'chunked in HTTP/1.0', [CHUNKED, 'Connection: keep-alive'], close, '1.0'),
    coding('6.1', 'Content-Length, then chunked', ['Content-Length: 5', CHUNKED], close),
    coding('6.1', 'chunked, then Content-Length', [CHUNKED, 'Content-Length: 5'], close),
    coding('6.1', 'chunked, then Content-Length: 0', [CHUNKED, 'Content-Length: 0'], close),
    coding('6.1', 'chunked twice', ['Transfer-Encoding: chunked, chunked']),
    coding('6.1', 'chunked on two lines', [CHUNKED, CHUNKED]),
    coding('6.1', 'gzip, chunked', ['Transfer-Encoding: gzip, chunked'], ADVISED),
    coding(
      '6.1',
      'gzip, chunked, and an unknown expectation',
      ['Transfer-Encoding: gzip, chunked', 'Expect: x'],
      {
        statuses: [400, 417, 501],
      },
    ),
    coding('6.3', 'chunked, gzip', ['Transfer-Encoding: chunked, gzip']),
    coding('6.3', 'chunked, identity', ['Transfer-Encoding: chunked, identity']),
    coding('6.3', 'chunked, then identity on a line', [CHUNKED, 'Transfer-Encoding: identity']),
    coding('6.3', 'identity', ['Transfer-Encoding: identity']),
    coding('6.3', 'an unknown coding', ['Transfer-Encoding: xchunked']),
    coding('6.3', 'chunked with a letter behind', ['Transfer-Encoding: chunkedx']),
    coding('6.3', 'chunked in quotes', ['Transfer-Encoding: "chunked"']),
    coding('6.3', 'chunked with a parameter', ['Transfer-Encoding: chunked;q=1']),
    coding('6.3', 'chunked behind a vertical tab', ['Transfer-Encoding: \x0bchunked']),
    coding('6.3', 'empty Transfer-Encoding', ['Transfer-Encoding:']),
    coding('6.3', 'empty Transfer-Encoding, Content-Length', ['Transfer-Encoding:', 'Content-Length: 5']),
  ]
}

/** An app that ignores the body responds before the broken part arrives. It must not read a request after it. */
function chunks(): Form[] {
  const chunk = (name: string, body: string, rest?: Rest): Form => ({
    section: '7.1',
    name,
    duty: 'close',
    advised: true,
    bytes: (id) => chunkedMessage(id, body),
    ...rest,
  })
  const sized = (size: string) => `${size}\r\nhello\r\n${LAST}`
  return [
    chunk('zeros before the chunk size', sized('0005'), { duty: 'serve', advised: false }),
    chunk('a chunk extension', sized('5;a=b;c="d"'), { duty: 'serve', advised: false }),
    chunk('a trailer', '0\r\nX-Odd: y\r\n\r\n', { duty: 'serve', section: '7.1.2' }),
    chunk('a chunk size over 2^64', sized('10000000000000005'), { advised: false }),
    chunk('a minus before the chunk size', sized('-5')),
    chunk('a plus before the chunk size', sized('+5')),
    chunk('0x before the chunk size', sized('0x5')),
    chunk('an underscore in the chunk size', sized('0_5')),
    chunk('a chunk size that is not a number', sized('g')),
    chunk('no chunk size', sized('')),
    chunk('a space before the chunk size', sized(' 5')),
    chunk('a space behind the chunk size', sized('5 ')),
    chunk('bare CR in a chunk extension', sized('5;a\rb')),
    chunk('bare LF in a chunk extension', sized('5;a\nb')),
    chunk('NUL in a chunk extension', sized(`5;a${NUL}b`)),
    chunk('bare LF behind the chunk size', `5\nhello\r\n${LAST}`),
    chunk('bare CR behind the chunk size', `5\rhello\r\n${LAST}`),
    chunk('bare LF behind a chunk', `5\r\nhello\n${LAST}`),
    chunk('nothing behind a chunk', `5\r\nhello${LAST}`),
    chunk('a chunk longer than said', `5\r\nhello!\r\n${LAST}`),
    chunk('a chunk shorter than said', `7\r\nhello\r\n${LAST}`),
    chunk('bare LF behind the last chunk', '0\n\r\n'),
    chunk('letters behind the last chunk', '0\r\nXX\r\n\r\n'),
    chunk('a trailer with a space before the colon', '0\r\nX-Odd : y\r\n\r\n', { section: '7.1.2' }),
  ]
}

/** Node writes the 100 for a pipelined request between the head and the body of the response before it, if that body is a Buffer. */
function expectation(): Form {
  return {
    section: '9110 10.1.1',
    name: 'an expected 100 behind another request',
    duty: 'serve',
    advised: true,
    bytes: (id) => message(id) + message(`${id}.expects`, { fields: ['Expect: 100-continue'] }),
  }
}
