import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { SECURITY_HEADERS } from '../../../packages/shared/src/security.ts'
import type { RawResponse } from './raw.ts'

/** RFC 9110 renamed this one; Node has the older name. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large' }

/** A response of NGINX itself: these headers and no others, beside its security headers and an id. */
export function assertOwn(response: RawResponse, expected: Record<string, string>): void {
  const { date, connection, 'x-request-id': id, ...headers } = response.headers
  const { 'x-request-id': sent, ...others } = expected
  assert.ok(date !== undefined && connection !== undefined)
  assert.match(id ?? '', /^[A-Za-z0-9_-]{1,64}$/)
  if (sent !== undefined) assert.equal(id, sent)
  assert.deepEqual(headers, { server: 'nginx', ...SECURITY_HEADERS, ...others })
}

/** An error of NGINX itself, with headers beyond those of every error. */
export function assertProblem(
  response: RawResponse,
  status: number,
  headers: Record<string, string> = {},
): void {
  assert.equal(response.status, status)
  const body = problemText(status)
  assertOwn(response, {
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
    ...headers,
  })
  assert.equal(response.body.toString(), body)
}

export function problemText(status: number): string {
  const title = RENAMED[status] ?? STATUS_CODES[status]
  return `{"type":"about:blank","title":"${title}","status":${status}}`
}
