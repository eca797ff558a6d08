import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../junit.ts'
import { failuresToRepeat, isSound, mergeRuns } from '../second-run.ts'

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

/** `a failed, other:b passed, c<a passed, FILE failed`: tests of this file or of another one, a subtest of `a`, and the file itself. */
function read(text: string): Outcome[] {
  return text.split(', ').flatMap((part) => {
    const [place, state] = part.split(' ') as [string, Outcome['state']]
    if (place === '') return []
    if (place === 'FILE') return [failedFile]
    const [name = '', file] = place.split(':').toReversed()
    const [own = '', suite = ''] = name.split('<')
    return [outcome(own, state, { suite, ...(file !== undefined && { file: `/x/test/${file}.test.ts` }) })]
  })
}

const CASES: readonly (readonly [
  what: string,
  first: string,
  second: string,
  code: number | null,
  both: string,
])[] = [
  [
    'twice passed is once',
    'a failed, b passed, d skipped',
    'a passed, b passed',
    0,
    'a flaky, b passed, d skipped',
  ],
  ['other files did not run again', 'a failed, other:c passed', 'a passed', 0, 'a flaky, c passed'],
  ['each test is judged by itself', 'a failed, b failed', 'a passed, b failed', 1, 'a flaky, b failed'],
  ['missing the second time', 'a failed, b passed', 'b passed', 0, 'a failed, b passed'],
  ['skipped the second time', 'a failed', 'a skipped, b passed', 0, 'a failed, b passed'],
  ['passed with its subtests', 'a failed', 'b<a passed, c<a passed', 0, 'a flaky, b passed, c passed'],
  [
    'a subtest fails the second time',
    'a failed',
    'b<a passed, c<a failed',
    1,
    'a failed, b passed, c failed',
  ],
  ['subtests in another file', 'a failed', 'other:b<a passed', 0, 'a failed, b passed'],
  ['passed in another file', 'a failed', 'other:a passed', 0, 'a failed, a passed'],
  ['no outcome of the second run', 'a failed, b passed', '', 0, 'a failed, b passed'],
  ['one of two of a name is missing', 'a passed, a failed', 'a passed', 0, 'a passed, a failed'],
  ['one of two of a name is skipped', 'a passed, a failed', 'a passed, a skipped', 0, 'a passed, a failed'],
  ['both of a name pass', 'a passed, a failed', 'a passed, a passed', 0, 'a passed, a flaky'],
  ['what fails only later', 'a failed, b passed', 'a passed, b failed', 1, 'a flaky, b failed'],
  ['a sound file', 'a passed, FILE failed', 'a passed, b passed', 0, 'a passed, FILE flaky, b passed'],
  ['a file without a test', 'FILE failed', '', 0, 'FILE failed'],
  ['a file whose test is skipped', 'FILE failed', 'a skipped', 0, 'FILE failed, a skipped'],
  ['a file that was killed', 'FILE failed', 'a passed', null, 'FILE failed, a passed'],
  ['a file that fails twice', 'FILE failed', 'FILE failed', 1, 'FILE failed'],
  ['a file that fails only later', 'a failed', 'a passed, FILE failed', 1, 'a flaky, FILE failed'],
]

for (const [what, first, second, exitCode, both] of CASES)
  test(`two runs: ${what}`, () => {
    const outcomes = mergeRuns(read(first), { exitCode, outcomes: read(second) })
    const states = outcomes.map(({ name, state, isFile }) => `${isFile ? 'FILE' : name} ${state}`)
    assert.equal(states.join(', '), both)
  })

test('a test of another suite is another test, and a file may be named in two ways', () => {
  const suite = { exitCode: 0, outcomes: [outcome('a', 'passed', { suite: 'x' })] }
  assert.equal(mergeRuns([outcome('a', 'failed')], suite)[0]?.state, 'failed')
  const again = { exitCode: 1, outcomes: [{ ...failedFile, name: FILE }] }
  assert.deepEqual(mergeRuns([failedFile], again), [failedFile])
})

test('a failed test that passes the second time still has its first failure', () => {
  const [flaky] = mergeRuns([outcome('a', 'failed')], { exitCode: 0, outcomes: [outcome('a')] })
  assert.deepEqual(flaky, outcome('a', 'flaky', { reason: 'a broke' }))
})

test('a run is sound if its command succeeds and no test has failed', () => {
  assert.equal(isSound({ exitCode: 0, outcomes: [outcome('a', 'flaky')] }), true)
  assert.equal(isSound({ exitCode: 1, outcomes: [outcome('a', 'flaky')] }), false)
  assert.equal(isSound({ exitCode: 0, outcomes: [outcome('a', 'failed')] }), false)
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
