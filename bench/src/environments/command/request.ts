import { type IncomingMessage, request } from 'node:http'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { Asked } from '../../model/experiment.ts'

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
  const { method = 'GET', path, headers, body } = asked
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const signal = AbortSignal.timeout(timeoutMs)
  request({ ...target, method, path, ...(headers && { headers }), agent: false, signal }, resolve)
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

export function isExpected({ status }: Given, asked: { status?: number }): boolean {
  return asked.status === undefined ? status >= 200 && status < 300 : status === asked.status
}
