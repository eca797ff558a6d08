import { HttpProblem } from './http-problem.ts'

/** A query parameter that holds a count. */
export interface CountParameter {
  name: string
  default: number
  max: number
}

export const ITEMS = { name: 'items', default: 50, max: 1000 } as const satisfies CountParameter
export const DELAY_MS = { name: 'delay', default: 50, max: 5000 } as const satisfies CountParameter

/**
 * Reads a decimal integer from 0 to `parameter.max`.
 * @param value from the query parser: undefined, a string, or an array of all values
 * @throws {HttpProblem} 400 that names the parameter, if the value is anything else
 */
export function parseCount(value: unknown, parameter: CountParameter): number {
  const given = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (given === undefined) return parameter.default
  if (typeof given === 'string' && /^(?:0|[1-9]\d{0,3})$/.test(given)) {
    const count = Number(given)
    if (count <= parameter.max) return count
  }
  const reason = `must be a whole number from 0 to ${parameter.max}`
  throw new HttpProblem(400, { errors: [{ field: parameter.name, reason }] })
}
