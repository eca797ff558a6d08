import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { errorStatus, HttpProblem, problem } from '../../src/http/problem.ts'

test('a problem says its status in words', () => {
  equal(problem(404), '{"type":"about:blank","title":"Not Found","status":404}')
  equal(problem(413), '{"type":"about:blank","title":"Content Too Large","status":413}')
})

test('a problem names the fields that are not valid', () => {
  const errors = [{ field: 'items', reason: 'must be <= 1000' }]
  deepEqual(JSON.parse(problem(400, errors)), {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    errors,
  })
})

test('a status without words is our fault', () => {
  const { title, status } = JSON.parse(problem(299))
  deepEqual([title, status], ['Internal Server Error', 500])
})

test('an error may carry a status', () => {
  for (const [error, status] of [
    [new HttpProblem(404), 404],
    [{ status: 409 }, 409],
    [{ statusCode: 413 }, 413],
    [{ status: 'x', statusCode: 415 }, 415],
    [Object.assign(new Error('x'), { status: 422 }), 422],
    [new HttpProblem(503), 503],
    [{ status: 500, statusCode: 404 }, 500],
  ] as const)
    equal(errorStatus(error), status)
})

test('anything else that is thrown is a fault of ours', () => {
  for (const error of [
    new Error('x'),
    { status: 200 },
    { status: 302 },
    { status: 404.5 },
    { status: '404' },
    { status: Number.NaN },
    { status: 599 },
    'not found',
    404,
    null,
    undefined,
  ])
    equal(errorStatus(error), 500)
})

test('a thrown problem is an error with both names of the status and the cause', () => {
  const cause = new Error('why')
  const thrown = new HttpProblem(404, { cause })
  ok(thrown instanceof Error)
  deepEqual([thrown.message, thrown.status, thrown.statusCode], ['Not Found', 404, 404])
  equal(thrown.cause, cause)
})
