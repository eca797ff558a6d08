import { type Header, headerValues } from './header.ts'
import { type ByteSource, NoResponse } from './source.ts'

/** Bytes of a body with the moment they arrived, in milliseconds of `performance.now()`. */
export interface Fragment {
  at: number
  bytes: Buffer
}

/** Status line and header section. */
export interface Head {
  version: string
  status: number
  reason: string
  headers: Header[]
  /** Violations of the syntax that do not prevent reading: odd whitespace, both framings. */
  faults: string[]
}

/** How the end of a body is known (RFC 9112 section 6.3). */
export type Framing = 'none' | 'length' | 'chunked' | 'close'

/** A complete response as it stood on the wire. */
export interface HttpResponse extends Head {
  framing: Framing
  body: Buffer
  fragments: Fragment[]
  trailers: Header[]
}

const STATUS_LINE = /^HTTP\/(1\.[01]) ([1-5]\d\d) ([\t\x20-\x7e\x80-\xff]*)$/
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Reads a status line and header section, more strictly than RFC 9112 requires of a client.
 * @throws {NoResponse} if the syntax makes it impossible to continue
 */
export async function readHead(source: ByteSource): Promise<Head> {
  const line = await source.line()
  const [, version = '', status = '', reason = ''] = STATUS_LINE.exec(line) ?? malformed('status line', line)
  const faults: string[] = []
  const headers = await readFields(source, faults)
  return { version, status: Number(status), reason, headers, faults }
}

/**
 * Reads the body that belongs to a head.
 * @param method of the request: a response to HEAD has no body (RFC 9112 section 6.3)
 */
export async function readBody(source: ByteSource, head: Head, method: string): Promise<HttpResponse> {
  const response: HttpResponse = {
    ...head,
    framing: framingOf(head, method),
    body: Buffer.alloc(0),
    fragments: [],
    trailers: [],
  }
  if (response.framing === 'length') await readLength(source, response, declaredLength(head))
  if (response.framing === 'chunked') await readChunks(source, response)
  if (response.framing === 'close') await readToClose(source, response)
  response.body = Buffer.concat(response.fragments.map(({ bytes }) => bytes))
  return response
}

async function readFields(source: ByteSource, faults: string[]): Promise<Header[]> {
  const fields: Header[] = []
  for (let line = await source.line(); line !== ''; line = await source.line()) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    const value = line.slice(colon + 1)
    if (colon === -1 || !TOKEN.test(name)) malformed('header', line)
    if (!/^ [^ \t].*[^ \t]$|^ [^ \t]$/.test(value))
      faults.push(`odd whitespace in the header ${JSON.stringify(line)}`)
    fields.push([name, value.trim()])
  }
  return fields
}

function framingOf(head: Head, method: string): Framing {
  const codings = lower(head, 'transfer-encoding')
  const lengths = lower(head, 'content-length')
  // RFC 9112 section 6.2: not both.
  if (codings.length > 0 && lengths.length > 0) head.faults.push('both transfer-encoding and content-length')
  if (codings.some((coding) => coding !== 'chunked')) malformed('transfer-encoding', codings.join(', '))
  if (lengths.some((length) => !/^\d{1,15}$/.test(length)) || new Set(lengths).size > 1) {
    malformed('content-length', lengths.join(', '))
  }
  if (method === 'HEAD' || head.status < 200 || head.status === 204 || head.status === 304) return 'none'
  if (codings.length > 0) return 'chunked'
  return lengths.length > 0 ? 'length' : 'close'
}

function lower(head: Head, name: string): string[] {
  return headerValues(head.headers, name).map((value) => value.toLowerCase())
}

function declaredLength(head: Head): number {
  return Number(lower(head, 'content-length')[0])
}

async function readLength(source: ByteSource, response: HttpResponse, length: number): Promise<void> {
  for (let left = length; left > 0; ) {
    const bytes = await source.some(left)
    if (bytes === undefined) {
      throw new NoResponse(
        'closed',
        `the connection closed ${left} bytes before the content-length of ${length}`,
      )
    }
    left -= bytes.length
    keep(response, bytes)
  }
}

async function readChunks(source: ByteSource, response: HttpResponse): Promise<void> {
  for (;;) {
    const line = await source.line()
    if (!/^[0-9A-Fa-f]{1,8}$/.test(line)) malformed('chunk size', line)
    const size = Number.parseInt(line, 16)
    if (size === 0) break
    keep(response, await source.take(size))
    const end = await source.line()
    if (end !== '') malformed('end of a chunk', end)
  }
  response.trailers = await readFields(source, response.faults)
}

async function readToClose(source: ByteSource, response: HttpResponse): Promise<void> {
  for (let bytes = await source.some(); bytes !== undefined; bytes = await source.some())
    keep(response, bytes)
}

function keep(response: HttpResponse, bytes: Buffer): void {
  response.fragments.push({ at: performance.now(), bytes })
}

function malformed(what: string, text: string): never {
  throw new NoResponse('malformed', `no valid ${what}: ${JSON.stringify(text.slice(0, 200))}`)
}
