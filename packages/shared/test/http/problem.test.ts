import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { HttpProblem } from '../../src/http/http-problem.ts'
import { createProblem, describeError, problem } from '../../src/http/problem.ts'

test('a problem says its status in words', () => {
  equal(problem(404), '{"type":"about:blank","title":"Not Found","status":404}')
  equal(problem(413), '{"type":"about:blank","title":"Content Too Large","status":413}')
  equal(problem(499), '{"type":"about:blank","title":"Client Error","status":499}')
  equal(problem(599), '{"type":"about:blank","title":"Server Error","status":599}')
})

test('a problem explains itself', () => {
  const errors = [{ field: 'items', reason: 'must be <= 1000' }]
  deepEqual(createProblem(400, { detail: 'too many', errors }), {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: 'too many',
    errors,
  })
})

test('a status that is no error is our fault', () => {
  for (const status of [299, 302, 404.5, 600, Number.NaN])
    deepEqual(createProblem(status), {
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
    })
})

test('an error may carry a status, also one that is not registered', () => {
  for (const [error, status] of [
    [new HttpProblem(404), 404],
    [{ status: 409 }, 409],
    [{ statusCode: 413 }, 413],
    [{ status: 'x', statusCode: 415 }, 415],
    [Object.assign(new Error('x'), { status: 422 }), 422],
    [new HttpProblem(503), 503],
    [{ status: 500, statusCode: 404 }, 500],
    [{ status: 499 }, 499],
    [{ status: 599 }, 599],
  ] as const) {
    const response = describeError(error)
    deepEqual([response.status, response.problem.status], [status, status])
  }
})

test('anything else that is thrown is a fault of ours', () => {
  for (const error of [
    new Error('x'),
    { status: 200 },
    { status: 302 },
    { status: 404.5 },
    { status: '404' },
    { status: Number.NaN },
    'not found',
    404,
    null,
    undefined,
  ]) {
    deepEqual(describeError(error), { status: 500, headers: {}, problem: createProblem(500) })
  }
})

test('the message of a 4xx is told if the error or its framework exposes it, and never that of a 5xx', () => {
  const detailOf = (status: number, members: object, known?: Parameters<typeof describeError>[1]) =>
    describeError(Object.assign(new Error('why'), { status }, members), known).problem.detail
  equal(detailOf(409, { expose: true }), 'why')
  equal(detailOf(409, {}, { isPublic: true }), 'why')
  equal(detailOf(499, { expose: true }), 'why')
  equal(detailOf(409, {}), undefined)
  equal(detailOf(409, { expose: false }), undefined)
  equal(detailOf(500, { expose: true }, { isPublic: true }), undefined)
  equal(detailOf(409, { expose: true }, { status: 503 }), undefined)
  equal(detailOf(404, { expose: true, syscall: 'open' }), undefined) // the message names a path of the server
  equal(detailOf(413, { expose: true, message: 'Payload Too Large' }), undefined) // what http-errors has by default
})

test('headers stay, but not those of another body', () => {
  const headers = { 'retry-after': '1', 'Content-Type': 'text/plain', 'content-length': '3' }
  for (const status of [401, 503])
    deepEqual(describeError({ status, headers }).headers, { 'retry-after': '1' })
  deepEqual(describeError({ status: 401, headers: 'x' }).headers, {})
})

test('fields that are not valid are named, and other lists of errors are not shown', () => {
  const errors = [{ field: 'items', reason: 'must be <= 1000' }]
  deepEqual(describeError({ status: 422, errors }).problem.errors, errors)
  deepEqual(describeError({ status: 400 }, { errors }).problem.errors, errors)
  equal(describeError({ status: 400, errors: [new Error('secret')] }).problem.errors, undefined)
  equal(describeError({ status: 500, errors }).problem.errors, undefined)
  const issues = [{ path: ['tea', 'name'], message: 'too short' }]
  const invalid = Object.assign(new Error('[…]'), { name: 'ZodError', issues, expose: true })
  deepEqual(describeError(invalid).problem, {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    errors: [{ field: 'tea.name', reason: 'too short' }],
  })
})

test('a thrown problem is an error with status, headers, message and cause', () => {
  const cause = new Error('why')
  const plain = new HttpProblem(404, { cause })
  ok(plain instanceof Error)
  deepEqual([plain.message, plain.cause], ['Not Found', cause])
  deepEqual(describeError(plain).problem, createProblem(404))
  const told = new HttpProblem(409, { detail: 'It is there.', headers: { 'retry-after': '1' } })
  deepEqual(describeError(told), {
    status: 409,
    headers: { 'retry-after': '1' },
    problem: createProblem(409, { detail: 'It is there.' }),
  })
})
