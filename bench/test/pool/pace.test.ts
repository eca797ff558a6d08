import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type MessagePool, Pause, sendAll } from '../../src/pool/pace.ts'

/** Responds to one message per turn of the event loop. */
class SlowPool implements MessagePool {
  most = 0
  readonly numbers: number[] = []
  #inFlight = 0
  #turn = Promise.resolve()

  waiting(): number {
    return Math.max(0, this.#inFlight - 1)
  }

  async send({ messageNo }: { messageNo: number }): Promise<number> {
    this.numbers.push(messageNo)
    this.most = Math.max(this.most, ++this.#inFlight)
    this.#turn = this.#turn.then(() => setImmediate())
    await this.#turn
    this.#inFlight--
    return messageNo % 3
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('keeps so many in flight, never more, until all get a response', async () => {
  for (const [messages, count, most] of [
    [50, 7, 7],
    [3, 7, 3],
    [10, 1, 1],
  ] as const) {
    const pool = new SlowPool()
    const workers: number[] = []
    const paced = await sendAll(pool, messages, { kind: 'in-flight', count }, (worker) =>
      workers.push(worker),
    )
    assert.deepEqual(pool.numbers, upTo(messages))
    assert.equal(pool.most, most)
    assert.equal(workers.length, messages)
    assert.equal(paced.delayMs, null)
  }
})

test('sends blocks, the last one shorter, and waits for all responses', async () => {
  const pool = new SlowPool()
  let responses = 0
  const pace = { kind: 'blocks', length: 20, delayMs: 3 } as const
  const paced = await sendAll(pool, 50, pace, () => responses++)
  assert.deepEqual(pool.numbers, upTo(50))
  assert.equal(responses, 50)
  assert.ok(pool.most >= 20)
  assert.ok(paced.delayMs !== null)
})

test('a worker that ends ends the measurement', async () => {
  const pool = { waiting: () => 0, send: () => Promise.reject(new Error('gone')) }
  for (const pace of [
    { kind: 'in-flight', count: 2 },
    { kind: 'blocks', length: 5, delayMs: 0 },
  ] as const)
    await assert.rejects(
      sendAll(pool, 5, pace, () => {}),
      /gone/,
    )
})

test('the pause grows with each longer queue and shrinks when nothing waits, as in the source', () => {
  const pause = new Pause(10)
  const delays = [0, 100, 191, 150, 191, 192, 0, 0, 0].map((waiting) => {
    pause.adjust(waiting)
    return pause.ms
  })
  assert.deepEqual(delays, [9, 10, 11, 11, 11, 12, 11, 10, 9])
  const shortest = new Pause(0)
  shortest.adjust(0)
  assert.equal(shortest.ms, 0)
})
