/** The duties of a server by RFC 9112, form by form. Sections are of RFC 9112 unless another RFC is named. */

/**
 * `reject`: respond with one of the statuses. `refuse`: the same, and close the connection. `close`: any response, then close.
 * `mend`: reject it, or read it as the RFC says. `serve`: respond to it and to the request behind it.
 */
type Duty = 'reject' | 'refuse' | 'close' | 'mend' | 'serve'

interface Demand {
  readonly duty: Duty
  /** Of a rejection; 400 by default. */
  readonly statuses?: readonly number[]
  /** The RFC says SHOULD, or only its grammar requires it. A server that deviates passes, with a note. */
  readonly advised?: boolean
}

export interface Form extends Demand {
  readonly section: string
  /** A few words, unique in the list. */
  readonly name: string
  /** The request, each character a byte, with `ID` for its id. */
  readonly text: string
}

/** What is odd about a request, and what is demanded other than in the other rows of its table. */
type Row = readonly [section: string, name: string, odd: string, other?: Partial<Demand>]

/** Where a request is put together, an oddity can take the place of each part. */
interface Parts {
  readonly line?: string
  /** Empty: no such line. */
  readonly host?: string
  /** Lines of the header section. */
  readonly fields?: string
  readonly body?: string
}

/** A request with its id as target and as X-Request-Id, so that a response shows which request it belongs to. */
function message(parts: Parts): string {
  const { line = 'GET /ID HTTP/1.1', host = 'Host: app.test', fields = '', body = '' } = parts
  const lines = [line, host, 'X-Request-Id: ID', fields].filter((one) => one !== '')
  return [...lines, '', body].join('\r\n')
}

/** A sound request, also with `ID`. */
export const SOUND = message({})

const POST = 'POST /ID HTTP/1.1'
const CHUNKED = 'Transfer-Encoding: chunked'
/** The last chunk, without trailers. */
const LAST = '0\r\n\r\n'
const HELLO = `5\r\nhello\r\n${LAST}`

const SERVE = { duty: 'serve' } as const
const MEND = { duty: 'mend' } as const
const CLOSE = { duty: 'close' } as const
const REJECT = { duty: 'reject' } as const
const ADVISED = { advised: true } as const
const DEMANDED = { advised: false } as const

/** An invalid request line SHOULD be 400 (section 3); 505 says that the version was not understood. */
const LINES: readonly Row[] = [
  ['2.2', 'an empty line before the request line', '\r\nGET /ID HTTP/1.1', SERVE],
  ['2.2', 'bare CR in the request line', 'GET /ID\rX HTTP/1.1'],
  ['2.2', 'whitespace before the first field', 'GET /ID HTTP/1.1\r\n X: y', { ...MEND, ...DEMANDED }],
  ['2.3', 'version HTTP/2.0', 'GET /ID HTTP/2.0'],
  ['2.3', 'version HTTP/0.9 with fields', 'GET /ID HTTP/0.9'],
  ['2.3', 'version HTTP/1.10', 'GET /ID HTTP/1.10'],
  ['2.3', 'version in lower case', 'GET /ID http/1.1'],
  ['2.3', 'version of another protocol', 'GET /ID HTTQ/1.1'],
  ['3', 'no version, and fields', 'GET /ID', CLOSE],
  ['3', 'a space in the target', 'GET /ID x HTTP/1.1'],
  ['3', 'a tab after the method', 'GET\t/ID HTTP/1.1'],
  ['3', 'NUL in the target', 'GET /ID\0 HTTP/1.1'],
  ['3.1', 'a method that is not a token', 'GE(T /ID HTTP/1.1'],
  ['3.2', 'a fragment in the target', 'GET /ID#x HTTP/1.1', REJECT],
  [
    '3.2.2',
    'a target with scheme and authority',
    'GET http://app.test/ID HTTP/1.1',
    { ...SERVE, ...DEMANDED },
  ],
  ['3.2.3', 'a target of authority alone', 'GET app.test:80 HTTP/1.1', REJECT],
  ['3.2.3', 'CONNECT', 'CONNECT app.test:80 HTTP/1.1', CLOSE],
  ['3.2.4', 'an asterisk, not for OPTIONS', 'GET * HTTP/1.1', REJECT],
]

const HOSTS: readonly Row[] = [
  ['3.2', 'no Host', ''],
  ['3.2', 'two Hosts', 'Host: a.test\r\nHost: b.test'],
  ['3.2', 'two equal Hosts', 'Host: a.test\r\nHost: a.test'],
  ['3.2', 'Host with a space', 'Host: a b'],
  ['3.2', 'Host with a path', 'Host: a.test/x'],
  ['3.2', 'Host with user information', 'Host: x@a.test'],
  ['3.2', 'Host with a port that is not a number', 'Host: a.test:http'],
  ['3.2', 'Host with half a bracket', 'Host: [a.test'],
  // The grammar allows both, but no client means them.
  ['3.2', 'Host with a comma', 'Host: a.test,b.test', MEND],
  ['3.2', 'empty Host', 'Host:', MEND],
]

const FIELDS: readonly Row[] = [
  ['5.1', 'space before the colon', 'X-Odd : y'],
  ['5.1', 'tab before the colon', 'X-Odd\t: y'],
  ['5.1', 'space before the colon of Content-Length', 'Content-Length : 0'],
  ['5.1', 'space before the colon of Transfer-Encoding', 'Transfer-Encoding : chunked'],
  ['5.2', 'a folded line', 'X-Odd: y\r\n z', MEND],
  ['5.2', 'a folded line below an empty value', 'X-Odd:\r\n\tz', MEND],
  ['5', 'a field without a name', ': y', ADVISED],
  ['5', 'a field without a colon', 'X-Odd', ADVISED],
  ['5', 'a name that is not a token', 'X(Odd: y', ADVISED],
  ['5', 'a name that is not ASCII', 'X\xe9: y', ADVISED],
  ['9110 5.5', 'NUL in a value', 'X-Odd: y\0z', MEND],
  ['9110 5.5', 'bare CR in a value', 'X-Odd: y\rz', MEND],
  ['9110 5.5', 'bare CR that could start a field', 'X-Odd: y\rContent-Length: 1', MEND],
  ['9110 5.5', 'other control characters in a value', 'X-Odd: y\x01\x7fz', MEND],
  ['9110 5.5', 'a value that is not ASCII', 'X-Odd: \xe9\xff', SERVE],
]

/** Each has a body of 5 bytes. A server that reads another length runs into the next request. */
const LENGTHS: readonly Row[] = [
  ['6.3', 'a plain Content-Length', 'Content-Length: 5', SERVE],
  ['6.3', 'Content-Length with a plus', 'Content-Length: +5'],
  ['6.3', 'Content-Length with a minus', 'Content-Length: -5'],
  ['6.3', 'Content-Length in hex', 'Content-Length: 0x5'],
  ['6.3', 'Content-Length with a fraction', 'Content-Length: 5.0'],
  ['6.3', 'Content-Length with an exponent', 'Content-Length: 5e0'],
  ['6.3', 'Content-Length with a space inside', 'Content-Length: 5 5'],
  ['6.3', 'Content-Length with a letter behind', 'Content-Length: 5x'],
  ['6.3', 'Content-Length with a vertical tab', 'Content-Length: \x0b5'],
  ['6.3', 'empty Content-Length', 'Content-Length:'],
  ['6.3', 'empty Content-Length, then another', 'Content-Length:\r\nContent-Length: 5'],
  ['6.3', 'Content-Length over 2^64', 'Content-Length: 18446744073709551621', { statuses: [400, 413] }],
  ['6.3', 'Content-Length as a list of two', 'Content-Length: 5, 6'],
  ['6.3', 'two Content-Lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['6.3', 'Content-Length as a list of one twice', 'Content-Length: 5, 5', MEND],
  ['6.3', 'two equal Content-Lengths', 'Content-Length: 5\r\nContent-Length: 5', MEND],
]

/** Anything but a single `chunked` makes the length of the body ambiguous. NGINX responds with 501 to all of these, which is as clear. */
const CODINGS: readonly Row[] = [
  ['6.1', 'chunked', CHUNKED, SERVE],
  ['6.1', 'chunked in another case', 'Transfer-Encoding: cHuNkEd', SERVE],
  ['6.1', 'Content-Length, then chunked', `Content-Length: 5\r\n${CHUNKED}`, CLOSE],
  ['6.1', 'chunked, then Content-Length', `${CHUNKED}\r\nContent-Length: 5`, CLOSE],
  ['6.1', 'chunked, then Content-Length: 0', `${CHUNKED}\r\nContent-Length: 0`, CLOSE],
  ['6.1', 'chunked twice', 'Transfer-Encoding: chunked, chunked'],
  ['6.1', 'chunked on two lines', `${CHUNKED}\r\n${CHUNKED}`],
  ['6.1', 'gzip, chunked', 'Transfer-Encoding: gzip, chunked', ADVISED],
  ['6.3', 'chunked, gzip', 'Transfer-Encoding: chunked, gzip'],
  ['6.3', 'chunked, identity', 'Transfer-Encoding: chunked, identity'],
  ['6.3', 'chunked, then identity on a line', `${CHUNKED}\r\nTransfer-Encoding: identity`],
  ['6.3', 'identity', 'Transfer-Encoding: identity'],
  ['6.3', 'an unknown coding', 'Transfer-Encoding: xchunked'],
  ['6.3', 'chunked with a letter behind', 'Transfer-Encoding: chunkedx'],
  ['6.3', 'chunked in quotes', 'Transfer-Encoding: "chunked"'],
  ['6.3', 'chunked with a parameter', 'Transfer-Encoding: chunked;q=1'],
  ['6.3', 'chunked behind a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['6.3', 'empty Transfer-Encoding', 'Transfer-Encoding:'],
  ['6.3', 'empty Transfer-Encoding, Content-Length', 'Transfer-Encoding:\r\nContent-Length: 5'],
]

const OLD: Row = ['6.1', 'chunked in HTTP/1.0', `${CHUNKED}\r\nConnection: keep-alive`]

/** An app that ignores the body responds before the broken part arrives. It must not read a request after it. */
const CHUNKS: readonly Row[] = [
  ['7.1', 'zeros before the chunk size', `000${HELLO}`, { ...SERVE, ...DEMANDED }],
  ['7.1', 'a chunk extension', `5;a=b;c="d"\r\nhello\r\n${LAST}`, { ...SERVE, ...DEMANDED }],
  ['7.1.2', 'a trailer', '0\r\nX-Odd: y\r\n\r\n', SERVE],
  ['7.1', 'a chunk size over 2^64', `1000000000000000${HELLO}`, DEMANDED],
  ['7.1', 'a minus before the chunk size', `-${HELLO}`],
  ['7.1', 'a plus before the chunk size', `+${HELLO}`],
  ['7.1', '0x before the chunk size', `0x${HELLO}`],
  ['7.1', 'an underscore in the chunk size', `0_${HELLO}`],
  ['7.1', 'a chunk size that is not a number', `g\r\nhello\r\n${LAST}`],
  ['7.1', 'no chunk size', `\r\nhello\r\n${LAST}`],
  ['7.1', 'a space before the chunk size', ` ${HELLO}`],
  ['7.1', 'a space behind the chunk size', `5 \r\nhello\r\n${LAST}`],
  ['7.1', 'bare CR in a chunk extension', `5;a\rb\r\nhello\r\n${LAST}`],
  ['7.1', 'bare LF in a chunk extension', `5;a\nb\r\nhello\r\n${LAST}`],
  ['7.1', 'NUL in a chunk extension', `5;a\0b\r\nhello\r\n${LAST}`],
  ['7.1', 'bare LF behind the chunk size', `5\nhello\r\n${LAST}`],
  ['7.1', 'bare CR behind the chunk size', `5\rhello\r\n${LAST}`],
  ['7.1', 'bare LF behind a chunk', `5\r\nhello\n${LAST}`],
  ['7.1', 'nothing behind a chunk', `5\r\nhello${LAST}`],
  ['7.1', 'a chunk longer than said', `5\r\nhello!\r\n${LAST}`],
  ['7.1', 'a chunk shorter than said', `7\r\nhello\r\n${LAST}`],
  ['7.1', 'bare LF behind the last chunk', '0\n\r\n'],
  ['7.1', 'letters behind the last chunk', '0\r\nXX\r\n\r\n'],
  ['7.1.2', 'a trailer with a space before the colon', '0\r\nX-Odd : y\r\n\r\n'],
]

/** Node writes the 100 for a pipelined request between the head and the body of the response before it, if that body is a Buffer. */
const EXPECTED: Row = ['9110 10.1.1', 'an expected 100 behind another request', 'Expect: 100-continue']

export const FORMS: readonly Form[] = [
  ...table(LINES, { duty: 'refuse', statuses: [400, 505], advised: true }, (line) => message({ line })),
  ...table(HOSTS, REJECT, (host) => message({ host })),
  ...table(FIELDS, REJECT, (fields) => message({ fields })),
  ...table(LENGTHS, { duty: 'refuse' }, (fields) => message({ line: POST, fields, body: 'hello' })),
  ...table(CODINGS, { duty: 'refuse', statuses: [400, 501] }, (fields) =>
    message({ line: POST, fields, body: HELLO }),
  ),
  ...table([OLD], CLOSE, (fields) => message({ line: 'POST /ID HTTP/1.0', fields, body: HELLO })),
  ...table(CHUNKS, { ...CLOSE, ...ADVISED }, (body) => message({ line: POST, fields: CHUNKED, body })),
  ...table(
    [EXPECTED],
    { ...SERVE, ...ADVISED },
    (fields) => SOUND + message({ fields }).replaceAll('ID', 'ID-expects'),
  ),
]

function table(rows: readonly Row[], demand: Demand, request: (odd: string) => string): Form[] {
  return rows.map(([section, name, odd, other]) => ({
    section,
    name,
    text: request(odd),
    ...demand,
    ...other,
  }))
}
