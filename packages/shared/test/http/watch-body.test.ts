import { deepEqual, equal, rejects } from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchBody } from '../../src/http/watch-body.ts'

const LIMIT = { timeout: 30_000 }
const STAYS = new AbortController().signal

test('passes a body on as it is', LIMIT, async () => {
  const failures: unknown[] = []
  const body = new Blob(['whole']).stream()
  equal(await text(watchBody(body, 5_000, STAYS, (error) => failures.push(error))), 'whole')
  deepEqual(failures, [])
})

test('tells of a failure once, and fails too', LIMIT, async () => {
  const failures: unknown[] = []
  const broken = new Error('broken')
  const body = new ReadableStream({ pull: () => Promise.reject(broken) })
  await rejects(text(watchBody(body, 5_000, STAYS, (error) => failures.push(error))), broken)
  deepEqual(failures, [broken])
})

test('gives up a silent body, and tells it so', LIMIT, async () => {
  const failures: unknown[] = []
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  const body = new ReadableStream({ cancel: () => resolve() })
  await rejects(
    text(watchBody(body, 50, STAYS, (error) => failures.push(error))),
    /The body was silent for 50 ms\./,
  )
  await cancelled
  equal(failures.length, 1)
})

test('a client that does not read, or leaves, is no failure', LIMIT, async () => {
  const failures: unknown[] = []
  const { promise: cancelled, resolve } = Promise.withResolvers<unknown>()
  const body = new ReadableStream({ cancel: resolve })
  const watched = watchBody(body, 50, STAYS, (error) => failures.push(error))
  await sleep(200)
  await watched.cancel('left')
  equal(await cancelled, 'left')
  deepEqual(failures, [])
})

test('what comes when the client has left is dropped', LIMIT, async () => {
  const failures: unknown[] = []
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const body = new ReadableStream({ pull: () => ask() }, { highWaterMark: 0 })
  const reader = watchBody(body, 5_000, STAYS, (error) => failures.push(error)).getReader()
  const reading = reader.read()
  await asked
  await reader.cancel('left')
  equal((await reading).done, true)
  await sleep(10)
  deepEqual(failures, [])
})

test('silence that nobody waits for any more is no failure', LIMIT, async () => {
  const failures: unknown[] = []
  const body = new ReadableStream()
  await rejects(text(watchBody(body, 50, AbortSignal.abort(), (error) => failures.push(error))))
  deepEqual(failures, [])
})
