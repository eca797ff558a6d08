/** A header field as it stands in the message: order, case and repetition are kept. */
export type Header = readonly [name: string, value: string]

/** By name; all values of one that is repeated. */
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** Each value as a field of its own. */
export function headersOf(values: HeaderValues): Header[] {
  return Object.entries(values).flatMap(([name, all]) => [all].flat().map((value): Header => [name, value]))
}

/** Every value of a name, in order. Names are compared without case (RFC 9110 section 5.1). */
export function headerValues(headers: readonly Header[], name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
}

/** The only value of a name; undefined where it is absent or repeated. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  const values = headerValues(headers, name)
  return values.length === 1 ? values[0] : undefined
}

/** A request as data: nothing is added to it but Host and the length of the body, and neither if it is there. */
export interface Request {
  /** GET by default. */
  method?: string
  /** The request target, byte for byte. */
  target: string
  headers?: readonly Header[]
  /** Text is sent as UTF-8, with its content-length unless the headers frame it. */
  body?: string | Uint8Array
}

/** The method, which defaults to GET. */
export function methodOf(request: Request): string {
  return request.method ?? 'GET'
}

/** Methods whose request says how long its body is, even when there is none (RFC 9110, section 8.6). */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

/** The request on the wire. Each character of its target and headers is one byte. */
export function requestBytes(request: Request, host: string): Buffer {
  const { target, headers = [], body } = request
  const has = (name: string) => headerValues(headers, name).length > 0
  const lines = [`${methodOf(request)} ${target} HTTP/1.1`]
  if (!has('host')) lines.push(`host: ${host}`)
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  const payload = Buffer.from(body ?? '')
  const hasLength = body !== undefined || WITH_CONTENT.has(methodOf(request))
  if (hasLength && !has('content-length') && !has('transfer-encoding'))
    lines.push(`content-length: ${payload.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload])
}
