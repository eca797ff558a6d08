import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Target } from '../src/launcher.ts'

export interface HttpResponse {
  status: number
  connection: string | undefined
  body: string
}

/** @param agent absent: the global one */
export function get(
  target: Target,
  path: string,
  headers: Record<string, string> = {},
  agent?: Agent,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  request({ ...target, path, headers, ...(agent && { agent }) }, async (response: IncomingMessage) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, body })
    } catch (error) {
      reject(error)
    }
  })
    .on('error', reject)
    .end()
  return promise
}

/**
 * Keep-alive connections, each with one request after the other, until the server says that it will close, or closes them as idle: a process
 * that gets no core may be late with its next request.
 * @returns once each has had a response, so that none still waits to be accepted: how many responses they all get until their end
 */
export async function askOnEach(
  connections: number,
  target: Target,
): Promise<{ responses: Promise<number> }> {
  const first = Array.from({ length: connections }, () => Promise.withResolvers<void>())
  const asking = Promise.all(first.map(({ resolve }) => askUntilClosed(target, resolve)))
  await Promise.race([asking, Promise.all(first.map(({ promise }) => promise))])
  return { responses: asking.then((counts) => counts.reduce((sum, count) => sum + count, 0)) }
}

/** @param onResponse called after each right response */
async function askUntilClosed(target: Target, onResponse: () => void): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let count = 1; ; count++) {
    const response = await get(target, '/json', {}, agent).catch((error: NodeJS.ErrnoException) => {
      if (count === 1 || error.code !== 'ECONNRESET') throw error
    })
    if (response === undefined) return count - 1
    assert.deepEqual([response.status, response.body], [200, '{"hello":"world"}'])
    onResponse()
    if (response.connection !== 'close') continue
    agent.destroy()
    return count
  }
}

/** A new connection for each request, until it is told to stop. @returns how many */
export async function askOnNewOnes(target: Target, isOver: () => boolean): Promise<number> {
  const agent = new Agent({ keepAlive: false })
  for (let count = 0; ; count++) {
    if (isOver()) return count
    const response = await get(target, '/json', {}, agent)
    assert.deepEqual([response.status, response.body], [200, '{"hello":"world"}'])
  }
}
