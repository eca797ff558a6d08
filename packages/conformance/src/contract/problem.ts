import { isDeepStrictEqual } from 'node:util'
import { shorten } from '../http/request.ts'
import type { Finding } from './judge.ts'

/** The value of a body; undefined where it is not JSON. */
export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Problem details (RFC 9457): exactly these members, and those of a validation error as the contract has them. */
export function inspectProblem(
  body: Buffer,
  expected: { type: string; title: string | undefined; status: number },
): Finding[] {
  const text = `'${shorten(body.toString('utf8'), 200)}'`
  const received = readJson(body)
  if (typeof received !== 'object' || received === null)
    return [{ expected: `the JSON ${JSON.stringify(expected)}`, received: text }]
  const { errors, ...members } = received as { errors?: unknown }
  if (!isDeepStrictEqual(members, expected))
    return [{ expected: `the JSON ${JSON.stringify(expected)}`, received: text }]
  if (errors === undefined || (expected.status === 400 && isFieldErrors(errors))) return []
  return [{ expected: 'errors as a list of { field, reason }, to 400 only', received: text }]
}

function isFieldErrors(errors: unknown): boolean {
  return Array.isArray(errors) && errors.length > 0 && errors.every(isFieldError)
}

/** RFC 9457 section 3.2 leaves the members of an extension to the API. A reason is one line: never a stack. */
function isFieldError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || Object.keys(error).length !== 2) return false
  const { field, reason } = error as { field?: unknown; reason?: unknown }
  return typeof field === 'string' && field !== '' && typeof reason === 'string' && /^[^\n]+$/.test(reason)
}
