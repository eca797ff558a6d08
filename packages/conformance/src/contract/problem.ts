import { STATUS_CODES } from 'node:http'
import { type Finding, quote, readJson } from './finding.ts'

/** RFC 9110 renamed these; Node has the older names. Both are right. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large', 422: 'Unprocessable Content' }

/**
 * Problem details (RFC 9457). There may be further members.
 * @param field that one of the errors must name
 */
export function inspectProblem(body: Buffer, status: number, field?: string): Finding[] {
  const problem = readJson(body)
  const titles = [STATUS_CODES[status], RENAMED[status]]
  const expected = `problem details: type about:blank, title ${titles[0]}, status ${status}`
  if (!isObject(problem)) return [{ expected, received: quote(body) }]
  const { type, title, detail, errors } = problem
  const isSound = type === 'about:blank' && titles.includes(String(title)) && problem.status === status
  const findings: Finding[] = isSound ? [] : [{ expected, received: quote(body) }]
  const note = (wanted: string) => findings.push({ expected: wanted, received: quote(body) })
  if (detail !== undefined && (typeof detail !== 'string' || status >= 500))
    note('a detail that is a text, and none to a 5xx')
  if ('stack' in problem || /\\n\s*at /.test(body.toString('utf8'))) note('no stack')
  if (errors !== undefined && !(Array.isArray(errors) && errors.every(isFieldError)))
    note('errors as a list of field and reason')
  if (field !== undefined && !(Array.isArray(errors) && errors.some((error) => error?.field === field)))
    note(`errors with the field ${field}`)
  return findings
}

/** RFC 9457 section 3.2 leaves the members of an extension to the API. */
function isFieldError(error: unknown): boolean {
  if (!isObject(error)) return false
  return [error.field, error.reason].every((text) => typeof text === 'string' && text !== '')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
