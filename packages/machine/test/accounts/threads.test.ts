import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { readThreads, spentBy } from '../../src/accounts/threads.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has these accounts'
const account = (onCpu: number, waiting: number) => ({ onCpu, waiting })

test('what a process used between two readings: a new thread had all of it, one that ended nothing', () => {
  const before = new Map([
    ['1', account(5e9, 1e9)],
    ['2', account(7e9, 0)],
  ])
  const after = new Map([
    ['1', account(6e9, 3e9)],
    ['3', account(0.5e9, 0.25e9)],
  ])
  assert.deepEqual(spentBy(1, before, after), { cpu: 1.5, main: account(1, 2) })
})

test('every thread of a process has an account, the main one under the id of the process', {
  skip,
}, async () => {
  const before = readThreads(process.pid)
  assert.ok((before?.get(String(process.pid))?.onCpu ?? 0) > 0)
  // It runs until it is ended, however busy the machine is.
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true })
  await once(worker, 'online')
  const during = readThreads(process.pid)
  await worker.terminate()
  assert.ok([...(during?.keys() ?? [])].some((thread) => !before?.has(thread)))
})

test('a process that has ended has none', () => {
  assert.equal(readThreads(2 ** 22 + 1), undefined)
})
