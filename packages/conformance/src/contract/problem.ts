import { isDeepStrictEqual } from 'node:util'
import { shorten } from '../http/request.ts'
import { type Finding, readJson } from './finding.ts'

/**
 * Problem details (RFC 9457): exactly these members, to a 4xx perhaps `detail`, and to 400 perhaps `errors`.
 * @param field that one of the errors must name
 */
export function inspectProblem(
  body: Buffer,
  expected: { type: string; title: string | undefined; status: number },
  field?: string,
): Finding[] {
  const text = `'${shorten(body.toString('utf8'), 200)}'`
  const received = readJson(body)
  if (typeof received !== 'object' || received === null)
    return [{ expected: `the JSON ${JSON.stringify(expected)}`, received: text }]
  const { detail, errors, ...members } = received as { detail?: unknown; errors?: unknown }
  if (!isDeepStrictEqual(members, expected))
    return [{ expected: `the JSON ${JSON.stringify(expected)}`, received: text }]
  if (
    detail !== undefined &&
    !(expected.status < 500 && typeof detail === 'string' && !/\n\s*at /.test(detail))
  )
    return [{ expected: 'a detail that is a text without a stack, and none to a 5xx', received: text }]
  if (field !== undefined && !(isFieldErrors(errors) && errors.some((error) => error.field === field)))
    return [{ expected: `errors with the field ${field} and a reason`, received: text }]
  if (errors === undefined || (expected.status === 400 && isFieldErrors(errors))) return []
  return [{ expected: 'errors as a list of { field, reason }, to 400 only', received: text }]
}

function isFieldErrors(errors: unknown): errors is { field: string; reason: string }[] {
  return Array.isArray(errors) && errors.length > 0 && errors.every(isFieldError)
}

/** RFC 9457 section 3.2 leaves the members of an extension to the API. A reason is one line: never a stack. */
function isFieldError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || Object.keys(error).length !== 2) return false
  const { field, reason } = error as { field?: unknown; reason?: unknown }
  return typeof field === 'string' && field !== '' && typeof reason === 'string' && /^[^\n]+$/.test(reason)
}
