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

/** An answer of the reference server, before it is bytes. */
export interface Outgoing {
  status: number
  headers: Header[]
  body: Buffer
  /** Sent after a time, behind the body; the length is then not known in advance. */
  late?: { ms: number; parts: readonly Buffer[] }
}

export function replaceHeader(answer: Outgoing, name: string, ...values: readonly string[]): Outgoing {
  const others = answer.headers.filter(([other]) => other !== name)
  return { ...answer, headers: [...others, ...values.map((value) => [name, value] as const)] }
}

export function replaceBody(answer: Outgoing, body: string | Buffer): Outgoing {
  const bytes = Buffer.from(body)
  return { ...replaceHeader(answer, 'content-length', String(bytes.length)), body: bytes }
}
