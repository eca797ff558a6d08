import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { deriveWarnings } from '../../src/judge/derive-warnings.ts'
import { extendRun, findRun, pauseOf } from '../../src/measure/resume.ts'
import type { RaceResult, StoredResult } from '../../src/model/result.ts'
import { ResultError, writeResult } from '../../src/model/result-file.ts'
import { describeWarning } from '../../src/model/warnings.ts'
import { golden } from '../fixtures/golden.ts'
import { interruptedResult, rateResult } from '../fixtures/results.ts'

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-resume-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

let stored = 0

/** The result as if this machine, with this code, had measured it. */
function store(result: StoredResult): string {
  const directory = join(DIRECTORY, String(++stored))
  writeResult(join(directory, 'result.json'), result)
  return directory
}

const here = { machine: readMachine(), versions: readVersions() }
const interrupted = (): RaceResult => ({ ...interruptedResult(), ...here })

function refusal(directory: string): string {
  try {
    findRun(directory)
  } catch (error) {
    assert.ok(error instanceof ResultError, String(error))
    return error.message.replaceAll(directory, 'DIR')
  }
  return 'nothing'
}

test('a race is found by its directory or its file, as it was saved', () => {
  const directory = store(interrupted())
  for (const name of [directory, join(directory, 'result.json')]) {
    const found = findRun(name)
    assert.equal(found.directory, directory)
    assert.deepEqual(found.result, interrupted())
  }
  const complete = { ...rateResult(), ...here }
  assert.deepEqual(findRun(store(complete)).result, complete)
})

test('a complete run is extended by as many heats as it had at first, and says how often that was', () => {
  const result: RaceResult = {
    ...rateResult(),
    warnings: [{ kind: 'heats-dropped', from: 4, maxTimeMs: 300_000 }],
  }
  const shape = () => [result.settings.heats, result.settings.extensions, result.finishedAt]
  extendRun(result)
  assert.deepEqual(shape(), [8, 1, null])
  extendRun(result)
  assert.deepEqual(shape(), [12, 2, null])
  extendRun(result, 5)
  assert.deepEqual(shape(), [17, 3, null])
  assert.deepEqual(result.warnings, [], 'what was dropped has time now')
  assert.match(
    deriveWarnings(result).map(describeWarning).join('\n'),
    /^Heats were added 3 times after this run was complete/m,
  )
})

test('what cannot be gone on with is refused in a sentence', () => {
  const { machine, versions } = here
  const cases: [result: StoredResult, sentence: string | RegExp][] = [
    [
      { ...golden('study'), ...here, finishedAt: null },
      'DIR is a run of pnpm bench study: go on with pnpm bench study --resume.',
    ],
    [
      { ...golden('target'), ...here, finishedAt: null },
      'DIR cannot be resumed, because nobody knows whether http://10.0.0.9:3000 still is the same launch: start a new run.',
    ],
    [
      { ...interrupted(), machine: { ...machine, cpu: 'Other 5' } },
      /^DIR cannot be resumed, because it was begun on another machine \(Other 5, .*\): start a new run\.$/,
    ],
    [
      { ...interrupted(), versions: { ...versions, startgrid: '0000000' } },
      /^DIR cannot be resumed, because the code was 0000000 then and is .* now: start a new run\.$/,
    ],
    [
      { ...interrupted(), versions: { ...versions, lockfile: '0' } },
      'DIR cannot be resumed, because the lockfile has changed: start a new run.',
    ],
    [
      { ...interrupted(), versions: { ...versions, node: '1.0.0' } },
      `DIR cannot be resumed, because Node was 1.0.0 then and is ${versions.node} now: start a new run.`,
    ],
  ]
  for (const [result, sentence] of cases) {
    const message = refusal(store(result))
    if (typeof sentence === 'string') assert.equal(message, sentence)
    else assert.match(message, sentence)
  }
  assert.match(refusal(join(DIRECTORY, 'none')), /^There is no DIR: give --resume the directory of a run\.$/)
})

test('the pause counts from the end of the last heat', () => {
  const result = interrupted()
  const [heat] = result.heats
  assert.ok(heat)
  const startedAt = new Date(Date.now() - 100_000).toISOString()
  const warning = pauseOf({ ...result, heats: [{ ...heat, startedAt, seconds: 40 }] })
  assert.equal(warning.kind, 'resumed')
  assert.ok('pauseSeconds' in warning && warning.pauseSeconds >= 60 && warning.pauseSeconds < 90)
})
