import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createProblem, toProblem } from '../src/problem.ts'

const OURS = { status: 500, headers: {}, problem: createProblem(500) }

test('an error with `expose` keeps its status and headers', () => {
  const headers = { 'retry-after': '1' }
  for (const [members, status] of [
    [{ status: 409, expose: true }, 409],
    [{ statusCode: 413, expose: true }, 413],
    [{ status: 503, expose: false }, 503],
    [{ status: 499, expose: false }, 499],
  ] as const) {
    const response = toProblem(Object.assign(new Error('why'), { headers }, members))
    deepEqual([response.status, response.problem.status, response.headers], [status, status, headers])
  }
})

test('anything else is a fault of ours, such as the 401 of an upstream service', () => {
  for (const thrown of [
    new Error('x'),
    Object.assign(new Error('x'), { status: 401, headers: { 'www-authenticate': 'x' } }),
    Object.assign(new Error('x'), { status: 200, expose: true }),
    Object.assign(new Error('x'), { status: '404', expose: 'yes' }),
    'not found',
    404,
    null,
    undefined,
  ])
    deepEqual(toProblem(thrown), OURS)
})

test('the message is told only below 500, if it is exposed and says something', () => {
  const detailOf = (status: number, members: object) =>
    toProblem(Object.assign(new Error('why'), { status }, members)).problem.detail
  equal(detailOf(409, { expose: true }), 'why')
  equal(detailOf(409, { expose: false }), undefined)
  equal(detailOf(503, { expose: true }), undefined)
  equal(detailOf(404, { expose: true, syscall: 'open' }), undefined) // the message names a path of the server
  equal(detailOf(404, { expose: true, message: 'Not Found' }), undefined) // what http-errors has by default
})

test('the fields that Zod refuses are named', () => {
  const issues = [{ path: ['tea', 'name'], message: 'too short' }]
  const { status, problem } = toProblem(Object.assign(new Error('[…]'), { name: 'ZodError', issues }))
  deepEqual([status, problem.errors], [400, [{ field: 'tea.name', reason: 'too short' }]])
})
