import { PROBLEM_JSON } from './contract.ts'
import { createProblem, problem } from './problem.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/**
 * A problem response as text, to be written to a socket when there is no response object, or when it cannot be used. It closes the connection.
 * @param headers more headers, such as `x-request-id`
 */
export function rawProblem(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): { head: string; body: string } {
  const body = problem(status)
  const all = {
    ...SECURITY_HEADERS,
    ...headers,
    'content-type': PROBLEM_JSON,
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return { head: `HTTP/1.1 ${status} ${createProblem(status).title}\r\n${lines.join('')}\r\n`, body }
}
