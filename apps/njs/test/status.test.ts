import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import status from '../src/status.ts'
import { fakeRequest } from './fake-request.ts'

test('says OK', () => {
  const { request, responses } = fakeRequest({})
  status.status(request)
  deepEqual(responses, [[200, 'OK']])
})
