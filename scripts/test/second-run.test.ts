import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../junit.ts'
import { failuresToRepeat, isSound, mergeRuns } from '../second-run.ts'
import { formatOutcomes } from '../test-report.ts'

const FILE = '/x/test/one.test.ts'

const outcome = (name: string, state: Outcome['state'] = 'passed', more: Partial<Outcome> = {}): Outcome => ({
  name,
  suite: '',
  file: FILE,
  state,
  reason: state === 'failed' ? `${name} broke` : '',
  ...more,
})

const failedFile = outcome('test/one.test.ts', 'failed', { isFile: true })

/** Names and states after both runs, and the last line of `pnpm test`. */
function merged(first: readonly Outcome[], second: readonly Outcome[], exitCode: number | null = 0) {
  const outcomes = mergeRuns(first, { exitCode, outcomes: second })
  return {
    states: outcomes.map(({ name, state }) => `${name} ${state}`),
    count: formatOutcomes(outcomes).split('\n').at(-1),
    isSound: isSound({ exitCode, outcomes }),
  }
}

test('a failed test that passes the second time is flaky, and still has its first failure', () => {
  const [flaky] = mergeRuns([outcome('a', 'failed')], { exitCode: 0, outcomes: [outcome('a')] })
  assert.deepEqual(flaky, outcome('a', 'flaky', { reason: 'a broke' }))
})

test('a test is counted once: those that passed twice, and those of files that did not run again', () => {
  const other = outcome('c', 'passed', { file: '/x/test/other.test.ts' })
  assert.deepEqual(
    merged(
      [outcome('a', 'failed'), outcome('b'), other, outcome('d', 'skipped')],
      [outcome('a'), outcome('b')],
    ),
    {
      states: ['a flaky', 'b passed', 'c passed', 'd skipped'],
      count: '3 passed, 1 skipped',
      isSound: true,
    },
  )
})

test('a test that fails twice has failed, and the others of its file are judged one by one', () => {
  const first = [outcome('a', 'failed'), outcome('b', 'failed')]
  assert.deepEqual(merged(first, [outcome('a'), outcome('b', 'failed')], 1), {
    states: ['a flaky', 'b failed'],
    count: '1 passed, 1 failed',
    isSound: false,
  })
})

for (const [what, second] of [
  ['is missing', [outcome('b')]],
  ['is skipped', [outcome('a', 'skipped'), outcome('b')]],
  ['has another suite', [outcome('a', 'passed', { suite: 'x' }), outcome('b')]],
  ['has another file', [outcome('a', 'passed', { file: '/x/test/other.test.ts' }), outcome('b')]],
] as const)
  test(`a failed test that ${what} the second time stays failed, though its run has exit code 0`, () => {
    const { states, isSound } = merged([outcome('a', 'failed'), outcome('b')], second)
    assert.deepEqual([states[0], isSound], ['a failed', false])
  })

test('no outcome of the second run: everything stays as it was', () => {
  assert.deepEqual(merged([outcome('a', 'failed'), outcome('b')], []), {
    states: ['a failed', 'b passed'],
    count: '1 passed, 1 failed',
    isSound: false,
  })
})

test('of several tests with one name, all have to pass the second time', () => {
  const first = [outcome('a'), outcome('a', 'failed')]
  assert.deepEqual(merged(first, [outcome('a')]).states, ['a passed', 'a failed'])
  assert.deepEqual(merged(first, [outcome('a'), outcome('a', 'skipped')]).states, ['a passed', 'a failed'])
  assert.deepEqual(merged(first, [outcome('a'), outcome('a')]).states, ['a passed', 'a flaky'])
})

test('a test that fails only the second time has failed: nothing ran beside it', () => {
  assert.deepEqual(
    merged([outcome('a', 'failed'), outcome('b')], [outcome('a'), outcome('b', 'failed')], 1),
    {
      states: ['a flaky', 'b failed'],
      count: '1 passed, 1 failed',
      isSound: false,
    },
  )
})

test('a failed file is flaky if its second run is sound; it is no test, and those that it hid are counted', () => {
  assert.deepEqual(merged([outcome('a'), failedFile], [outcome('a'), outcome('b')]), {
    states: ['a passed', 'test/one.test.ts flaky', 'b passed'],
    count: '2 passed',
    isSound: true,
  })
})

test('a failed file stays failed without a test that passes in its second run', () => {
  const otherFile = outcome('a', 'passed', { file: '/x/test/other.test.ts' })
  for (const second of [[], [outcome('a', 'skipped')], [otherFile]])
    assert.equal(merged([failedFile], second).states[0], 'test/one.test.ts failed')
})

test('a failed file stays failed if the second command fails or is killed', () => {
  for (const exitCode of [1, null])
    assert.deepEqual(merged([failedFile], [outcome('a')], exitCode), {
      states: ['test/one.test.ts failed', 'a passed'],
      count: '1 passed, 1 failed',
      isSound: false,
    })
})

test('a file that fails twice is counted once, whatever it is called', () => {
  const again = { ...failedFile, name: FILE }
  assert.deepEqual(merged([failedFile], [again], 1).states, ['test/one.test.ts failed'])
})

test('a file that fails only the second time has failed, and a test that passed in it is flaky', () => {
  assert.deepEqual(merged([outcome('a', 'failed')], [outcome('a'), failedFile], 1), {
    states: ['a flaky', 'test/one.test.ts failed'],
    count: '1 passed, 1 failed',
    isSound: false,
  })
})

test('a command that fails without a failed test is not sound', () => {
  assert.equal(merged([outcome('a', 'failed')], [outcome('a')], 1).isSound, false)
})

test('failures in up to five files are tried again, however many tests a hook failed; in six files none', () => {
  const failures = Array.from({ length: 6 }, (_, index) =>
    outcome(`t${index}`, 'failed', { file: `/x/test/${index}.test.ts` }),
  )
  const ofOneHook = failures.map((one) => ({ ...one, file: FILE }))
  assert.deepEqual(failuresToRepeat([outcome('a'), ...failures.slice(1)]), failures.slice(1))
  assert.deepEqual(failuresToRepeat([outcome('a'), ...ofOneHook]), ofOneHook)
  assert.deepEqual(failuresToRepeat(failures), [])
})
