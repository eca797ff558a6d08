import type { Outcome } from './junit.ts'

/** The tests of a package, or of some of its files, as one command ran them. */
export interface Run {
  /** null: a signal ended it, or it did not start. */
  readonly exitCode: number | null
  readonly outcomes: readonly Outcome[]
}

/** Failures in more files than these are no accident. A hook that fails once fails all tests of its file. */
const MOST_FLAKY = 5

/** The failed tests that a second run tries; none where too many files failed. @param outcomes of all packages */
export function failuresToRepeat(outcomes: readonly Outcome[]): Outcome[] {
  const failures = outcomes.filter(({ state }) => state === 'failed')
  const files = new Set(failures.map(({ file, name }) => file ?? name))
  return files.size > MOST_FLAKY ? [] : failures
}

/** Whether a run had no failure: not even one outside of its tests. */
export function isSound({ exitCode, outcomes }: Run): boolean {
  return exitCode === 0 && outcomes.every(({ state }) => state !== 'failed')
}

/**
 * The outcomes of a package after its failed files ran again alone. A failed test is flaky if the same test ran and passed the second time,
 * and a failed file if its second run was sound and had a test. A test that fails only the second time has failed: nothing ran beside it.
 * Tests that only the second run reached are added, so that no test is lost.
 */
export function mergeRuns(first: readonly Outcome[], second: Run): Outcome[] {
  const before = Map.groupBy(first, keyOf)
  const again = Map.groupBy(second.outcomes, keyOf)
  const judged = [...before].flatMap(([key, tests]) =>
    mergeTests(tests, again.get(key) ?? partsOf(tests[0], second), second),
  )
  const added = [...again].flatMap(([key, tests]) => tests.slice(before.get(key)?.length ?? 0))
  return [...judged, ...added]
}

/** What passes is reported as a suite of its subtests. What failed before them was reported as a test. */
function partsOf(test: Outcome | undefined, { outcomes }: Run): Outcome[] {
  return outcomes.filter(({ file, suite }) => file === test?.file && suite === test?.name)
}

/** A file that fails in two runs may be named in two ways. */
function keyOf({ name, suite, file = '', isFile }: Outcome): string {
  return isFile ? file : JSON.stringify([file, suite, name])
}

/** @param tests of one key; several tests of a file may have the same name @param repeated those of the second run with this key */
function mergeTests(tests: readonly Outcome[], repeated: readonly Outcome[], second: Run): Outcome[] {
  const allPassed = repeated.length >= tests.length && repeated.every(({ state }) => state === 'passed')
  return tests.map((test, index) => {
    if (test.state === 'failed') {
      const isResolved = test.isFile ? isFileSound(test, second) : allPassed
      return isResolved ? { ...test, state: 'flaky' } : test
    }
    const later = repeated[index]
    return later?.state === 'failed' ? later : test
  })
}

function isFileSound({ file }: Outcome, second: Run): boolean {
  return isSound(second) && second.outcomes.some((test) => test.file === file && test.state === 'passed')
}
