import { deepEqual, equal, throws } from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { StartError } from '@startgrid/shared/process/config.ts'
import { readPoolConfig } from '../src/config.ts'

test('without settings: threads, one per core', () => {
  const size = availableParallelism()
  deepEqual(readPoolConfig({}), { library: 'piscina', size, queue: 100, timeoutMs: 5000 })
})

test('takes each setting', () => {
  const env = { POOL: 'qoper8-cp', POOL_SIZE: '64', POOL_QUEUE: '1', POOL_TIMEOUT_MS: '600000' }
  deepEqual(readPoolConfig(env), { library: 'qoper8-cp', size: 64, queue: 1, timeoutMs: 600_000 })
  equal(readPoolConfig({ POOL_SIZE: 'auto' }).size, availableParallelism())
})

const REFUSED: [name: string, values: string[], allowed: string][] = [
  ['POOL', ['', 'Piscina', 'threads'], 'one of qoper8-cp, piscina'],
  ['POOL_SIZE', ['', '0', '65', '1.5', '-1', 'all'], 'auto or a whole number from 1 to 64'],
  ['POOL_QUEUE', ['0', '100001', 'x'], 'a whole number from 1 to 100000'],
  ['POOL_TIMEOUT_MS', ['0', '600001', '5s'], 'a whole number from 1 to 600000'],
]

for (const [name, values, allowed] of REFUSED) {
  test(`refuses a bad ${name} in one sentence`, () => {
    for (const value of values) {
      const message = `${name} is ${JSON.stringify(value)}, but must be ${allowed}.`
      throws(() => readPoolConfig({ [name]: value }), new StartError(message))
    }
  })
}
