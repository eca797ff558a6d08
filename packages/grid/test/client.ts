import { type IncomingMessage, request } from 'node:http'
import type { Target } from '@startgrid/wire/target.ts'

export interface HttpResponse {
  status: number
  connection: string | undefined
  body: string
}

export function get(
  target: Target,
  path: string,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  request({ ...target, path, headers }, async (response: IncomingMessage) => {
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
