import { type IncomingMessage, request } from 'node:http'
import type { Target } from '@startgrid/grid/launcher.ts'

/** What is asked of a server. The values of headers and the body are in no result. */
export interface Asked {
  method: string
  /** Path and query as in the request line. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string
  /** Of a right response; absent: 2xx. */
  status?: number
}

export interface Given {
  status: number
  /** Of the first 10 MB. */
  body: Buffer
}

const MOST_BYTES = 10 * 1024 * 1024

/**
 * Sends one request on a connection of its own.
 * @throws {Error} if there is no whole response in time
 */
export async function ask(target: Target, asked: Asked, timeoutMs: number): Promise<Given> {
  const { method, path, headers, body } = asked
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const signal = AbortSignal.timeout(timeoutMs)
  request({ ...target, method, path, headers, agent: false, signal }, resolve)
    .once('error', reject)
    .end(body)
  const response = await promise
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < MOST_BYTES) chunks.push(chunk)
    bytes += chunk.length
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}

export function isExpected({ status }: Given, asked: Pick<Asked, 'status'>): boolean {
  return asked.status === undefined ? status >= 200 && status < 300 : status === asked.status
}

/** `GET /api/items` */
export function nameOf({ method, path }: Asked): string {
  return `${method} ${path}`
}
