import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { Queue } from '../src/engine/queue.ts'

test('a queue does what an array does, however long', () => {
  const random = createRandom(3)
  const queue = new Queue<number>()
  const model: number[] = []
  for (let n = 0; n < 20_000; n++) {
    const choice = random()
    // Grows to some hundreds, and is empty now and then.
    const growing = Math.floor(n / 1_000) % 2 === 0
    if (choice < (growing ? 0.6 : 0.3)) {
      queue.push(n)
      model.push(n)
    } else {
      assert.equal(queue.peek(), model[0])
      assert.equal(queue.shift(), model.shift())
    }
    assert.equal(queue.length, model.length)
  }
  while (model.length > 0) assert.equal(queue.shift(), model.shift())
  assert.deepEqual([queue.shift(), queue.peek(), queue.length], [undefined, undefined, 0])
})
