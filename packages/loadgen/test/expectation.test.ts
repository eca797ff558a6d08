import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BodyExpectation, Checker, exactly } from '../src/http/expectation.ts'

const BODY = Buffer.from('naïve')

function holds(expected: BodyExpectation, body: Buffer): boolean {
  const checker = new Checker({ body: expected }, 'GET')
  return checker.verdict({ status: 200, bodyLength: body.length }, body, 0) === undefined
}

test('each part of an expectation, alone and together', () => {
  const parts: BodyExpectation[] = [
    exactly('naïve'),
    { length: 6 },
    { includes: ['aï', 've'] },
    { ...exactly(BODY), length: 6, includes: ['n'] },
    {},
  ]
  for (const part of parts) assert.ok(holds(part, BODY), JSON.stringify(part))
})

test('a part that does not hold', () => {
  for (const body of ['naive!', 'naïv', '']) {
    for (const part of [exactly('naïve'), { includes: ['aï', 've'] }]) {
      assert.equal(holds(part, Buffer.from(body)), false)
    }
  }
  assert.equal(holds({ length: 5 }, BODY), false)
})

test('the first response is sampled, then one in n on average, at uneven distances', () => {
  const checker = new Checker({ body: { includes: [] }, checkEvery: 10 }, 'GET')
  const sampled = Array.from({ length: 100_000 }, () => checker.sample())
  assert.equal(sampled[0], true)
  const places = sampled.flatMap((is, place) => (is ? [place] : []))
  const distances = places.slice(1).map((place, n) => place - (places[n] ?? 0))
  assert.deepEqual([Math.min(...distances), Math.max(...distances)], [1, 19])
  // 10,000 samples expected; the standard deviation is about 55.
  assert.ok(Math.abs(places.length - 10_000) < 400, `${places.length}`)
})

test('without a body to expect nothing is sampled; with 1 everything is', () => {
  assert.equal(new Checker({}, 'GET').sample(), false)
  const every = new Checker({ body: { length: 1 }, checkEvery: 1 }, 'GET')
  assert.ok(Array.from({ length: 100 }, () => every.sample()).every(Boolean))
})
