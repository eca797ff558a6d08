import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import hello from '../src/hello.ts'
import { fakeRequest } from './fake-request.ts'

test('greets in text and in JSON, and by name', () => {
  for (const [respond, variables, body] of [
    [hello.greet, {}, 'Hello World!'],
    [hello.json, {}, '{"hello":"world"}'],
    [hello.greetByName, { name: 'Zoë' }, 'Hello, Zoë!'],
  ] as const) {
    const { request, responses } = fakeRequest({ variables })
    respond(request)
    deepEqual(responses, [[200, body]])
  }
})
