import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { headerValue, headerValues } from '../../src/http/header.ts'
import { type Incoming, type Outgoing, replaceBody, replaceHeader } from './message.ts'

export type Coding = 'br' | 'gzip' | undefined

/**
 * Every decision of the reference server on its own, so that a defect is one of them replaced. The values stand here as
 * docs/contract.md writes them and are not imported: without a defect, the suite and the document agree.
 */
export interface Behaviour {
  /** Bytes of the header section. */
  headerLimit: number
  /** The status of what is refused before routing. */
  refuse(request: Incoming): number | undefined
  /** Method, target without scheme and authority, version; anything else is `garbage`. */
  requestLine: RegExp
  /** What the parser does without a Host. */
  allowsNoHost: boolean
  /** The path that routes are compared with. */
  path(target: string): string
  decode(segment: string): string
  /** The query parameter of that name; undefined where it is malformed. */
  count(values: readonly string[], fallback: number, max: number): number | undefined
  requestId(values: readonly string[]): string
  nonce(): string
  /** The document before it is sent. */
  html(html: string, nonce: string): string
  /** The shell, the slow part and the end of a stream. */
  parts(html: string, nonce: string): [string, string, string]
  wait(ms: number): number
  negotiate(accepted: string | undefined): Coding
  /** Whether a name below /assets/ may be asked for. */
  asset(name: string): string | undefined
  /** The last word about a response. */
  finish(response: Outgoing, request: Incoming): Outgoing
  /** What a proxy in front does with it. */
  proxy(response: Outgoing, request: Incoming): Outgoing
  /** The last word about the bytes of a response without a late part. */
  bytes(bytes: Buffer, request: Incoming, response: Outgoing): Buffer
  staysOpen(response: Outgoing, request: Incoming): boolean
  /** Whether an open connection is read on after the response. */
  readsOn(request: Incoming): boolean
  /** The status for bytes that are not HTTP. */
  garbage: number
  /** Whether 100 is sent where it is expected. */
  continues: boolean
  /** Whether a head may come in several pieces. */
  patient: boolean
  /** Milliseconds before a request gets a response; later ones overtake it unless `inOrder`. */
  pause(request: Incoming): number
  inOrder: boolean
  /** The lines that the log gets for a response. */
  log(line: LogLine, request: Incoming): readonly object[]
}

export interface LogLine {
  requestId: string | undefined
  method: string
  path: string
  route?: string
  status: number
  ms: number
  client: string
  trace_id?: string
}

/** `uri-host [ ":" port ]` as RFC 3986 has it: an address in brackets, else a name or IPv4. */
export function isHost(value: string): boolean {
  return /^(\[[0-9A-Fa-f:.]+\]|([A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})*)(:[0-9]*)?$/.test(value)
}

/** Compresses pages, as NGINX in front does. A gzip stream may have several members, so the late parts are some of their own. */
export function compress(response: Outgoing, { headers }: Incoming): Outgoing {
  if (!/^text\/html/.test(headerValue(response.headers, 'content-type') ?? '')) return response
  const varying = replaceHeader(response, 'vary', 'Accept-Encoding')
  if (headerValue(headers, 'accept-encoding') !== 'gzip') return varying
  const coded = replaceHeader(varying, 'content-encoding', 'gzip')
  const { late } = response
  if (late === undefined) return replaceBody(coded, gzipSync(response.body))
  return {
    ...coded,
    body: gzipSync(response.body),
    late: { ...late, parts: late.parts.map((part) => gzipSync(part)) },
  }
}

export const CORRECT: Behaviour = {
  headerLimit: 16_384,
  refuse: ({ target, headers, length = 0 }) => {
    if (isMalformed(target.split('?')[0] ?? '') || target.includes('#')) return 400
    const hosts = headerValues(headers, 'host')
    if (hosts.length > 1 || !hosts.every(isHost)) return 400
    return length > 65_536 ? 413 : undefined
  },
  requestLine: /^([A-Z]+) (?:[Hh][Tt]{2}[Pp]:\/\/[^/?#]+)?(\/[\x21-\x7e]*) HTTP\/(1\.[01])$/,
  allowsNoHost: false,
  path: (target) => target.split('?', 1)[0] ?? '',
  decode: decodeURIComponent,
  count: (values, fallback, max) => {
    const [value = ''] = values
    if (values.length === 0) return fallback
    return values.length === 1 && /^(?:0|[1-9]\d*)$/.test(value) && Number(value) <= max
      ? Number(value)
      : undefined
  },
  requestId: (values) => {
    const [value = ''] = values
    return values.length === 1 && /^[A-Za-z0-9._-]{1,64}$/.test(value) ? value : randomUUID()
  },
  nonce: () => randomBytes(18).toString('base64'),
  html: (html) => html,
  parts: (html, nonce) => {
    const [, content = ''] = /<!--\$-->([\s\S]*?)<!--\/\$-->/.exec(html) ?? []
    const pending = '<!--$?--><template id="B:0"></template><p>Asking around…</p><!--/$-->'
    const shell = html.replace(`<!--$-->${content}<!--/$-->`, pending).replace('</body></html>', '')
    const late = `<div hidden id="S:0">${content}</div><script nonce="${nonce}">$RC("B:0","S:0")</script>`
    return [shell, late, '</body></html>']
  },
  wait: (ms) => ms,
  negotiate: (accepted = '') => {
    const weights = new Map(accepted.split(',').map((part) => readWeight(part)))
    const accepts = (coding: string) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0
    return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined
  },
  asset: (name) => name,
  proxy: (response) => response,
  finish: (response) => response,
  bytes: (bytes) => bytes,
  staysOpen: ({ status }, { version, headers, length = 0 }) =>
    version === '1.1' &&
    status !== 413 &&
    length <= 65_536 &&
    !headerValues(headers, 'connection').includes('close'),
  readsOn: () => true,
  garbage: 400,
  continues: true,
  patient: true,
  pause: () => 0,
  inOrder: true,
  log: (line, { target }) => (/^\/(?:livez|readyz)/.test(target) ? [] : [line]),
}

function isMalformed(path: string): boolean {
  try {
    return decodeURIComponent(path).includes('\0')
  } catch {
    return true
  }
}

function readWeight(part: string): [coding: string, weight: number] {
  const [coding = '', weight = ''] = part.split(';').map((text) => text.trim().toLowerCase())
  return [coding, weight === '' ? 1 : Number(weight.replace('q=', ''))]
}
