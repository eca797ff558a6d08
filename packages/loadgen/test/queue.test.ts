import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { InFlight } from '../src/engine/in-flight.ts'
import { Queue } from '../src/engine/queue.ts'

test('a queue does what an array does, at both ends, however long', () => {
  const random = createRandom(3)
  const queue = new Queue<number>()
  const model: number[] = []
  for (let n = 0; n < 20_000; n++) {
    const choice = random()
    // Grows to some hundreds, and is empty now and then.
    const growing = Math.floor(n / 1_000) % 2 === 0
    if (choice < (growing ? 0.5 : 0.2)) {
      queue.push(n)
      model.push(n)
    } else if (choice < (growing ? 0.6 : 0.3)) {
      queue.unshift(n)
      model.unshift(n)
    } else {
      assert.equal(queue.peek(), model[0])
      assert.equal(queue.shift(), model.shift())
    }
    assert.equal(queue.length, model.length)
  }
  while (model.length > 0) assert.equal(queue.shift(), model.shift())
  assert.deepEqual([queue.shift(), queue.peek(), queue.length], [undefined, undefined, 0])
})

test('requests in flight leave in the order in which they came, with all that is known of them', () => {
  const inFlight = new InFlight(3)
  for (let round = 0; round < 5; round++) {
    inFlight.push(round, round + 0.5, 7, true)
    inFlight.push(round + 100, round + 100.5, 8, false)
    assert.deepEqual(inFlight.intendedTimes(), [round, round + 100])
    const { intended, sent, path, sampled } = inFlight
    assert.deepEqual([intended, sent, path, sampled], [round, round + 0.5, 7, true])
    inFlight.shift()
    assert.deepEqual(
      [inFlight.intended, inFlight.path, inFlight.sampled, inFlight.count],
      [round + 100, 8, false, 1],
    )
    inFlight.shift()
    assert.deepEqual(inFlight.intendedTimes(), [])
  }
})
