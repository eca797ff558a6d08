import { createProblem, type Explanation, type FieldError } from './problem.ts'

/** For servers without an error type of their own: thrown by a handler to respond with a problem. Its message is public, unless it is a 5xx. */
export class HttpProblem extends Error {
  override name = 'HttpProblem'
  readonly expose = true
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly errors: readonly FieldError[] | undefined

  constructor(
    status: number,
    {
      detail,
      errors,
      headers,
      ...options
    }: ErrorOptions & Explanation & { headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail ?? createProblem(status).title, options)
    this.status = status
    this.headers = headers
    this.errors = errors
  }
}
