import type { Header } from '../../src/http/header.ts'

/** A request as the reference server reads it. */
export interface Incoming {
  method: string
  target: string
  version: string
  headers: Header[]
  /** Bytes that the head declares; undefined where it declares none. */
  length: number | undefined
  body: Buffer
}

/** A response of the reference server, before it is bytes. */
export interface Outgoing {
  status: number
  headers: Header[]
  body: Buffer
  /** Sent after a time, behind the body; the length is then not known in advance. */
  late?: { ms: number; parts: readonly Buffer[] }
}

export function replaceHeader(response: Outgoing, name: string, ...values: readonly string[]): Outgoing {
  const others = response.headers.filter(([other]) => other !== name)
  return { ...response, headers: [...others, ...values.map((value) => [name, value] as const)] }
}

export function replaceBody(response: Outgoing, body: string | Buffer): Outgoing {
  const bytes = Buffer.from(body)
  return { ...replaceHeader(response, 'content-length', String(bytes.length)), body: bytes }
}
