import { zValidator } from '@hono/zod-validator'
import type { ValidationTargets } from 'hono'
import type { ZodType } from 'zod'
import { HttpProblem } from '#shared/http/problem.ts'

/** `zValidator` that responds to invalid input with a problem that names the fields. */
export const validator = <Target extends keyof ValidationTargets, Schema extends ZodType>(
  target: Target,
  schema: Schema,
) =>
  zValidator(target, schema, (result) => {
    if (result.success) return
    const { issues } = result.error
    const errors = issues.map(({ path, message }) => ({ field: path.join('.'), reason: message }))
    throw new HttpProblem(400, { errors })
  })
