import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { findFinished } from '../src/cli/commands/study.ts'
import { createStudyResult } from '../src/experiment/result.ts'
import { newHeat } from '../src/measure/heat.ts'
import { commandOf, prepareOutput } from '../src/report/output.ts'
import type { Result } from '../src/result/result.ts'
import { readResult, writeResult } from '../src/result/result-file.ts'
import { PUBLISHED } from '../studies/index.ts'
import { rateResult } from './fixtures/results.ts'

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-results-'))
after(() => rmSync(DIRECTORY, { recursive: true }))
const inDirectory = (...names: string[]) => join(DIRECTORY, ...names)

test('what is written can be read, and its directory is made', () => {
  const path = inDirectory('deep', 'below', 'result.json')
  writeResult(path, rateResult())
  deepEqual(readResult(path), rateResult())
  deepEqual(readdirSync(inDirectory('deep', 'below')), ['result.json'])
})

test('a reader never sees half a result: the old file stays whole, and the new one takes its place', () => {
  const path = inDirectory('result.json')
  writeResult(path, rateResult())
  const [old, reader] = [readFileSync(path, 'utf8'), openSync(path, 'r')]
  writeResult(path, { ...rateResult(), seed: 5, heats: [] })
  ok(readFileSync(reader, 'utf8') === old)
  closeSync(reader)
  equal(readResult(path).seed, 5)
})

test('what cannot be written is said, and leaves nothing behind', () => {
  mkdirSync(inDirectory('taken', 'inside'), { recursive: true })
  throws(() => writeResult(inDirectory('taken'), rateResult()), /EISDIR|ENOTEMPTY|EEXIST/)
  deepEqual(
    readdirSync(DIRECTORY).filter((name) => name.endsWith('.tmp') && name.startsWith('taken')),
    [],
  )
})

test('a place that can be written to is prepared without a trace', () => {
  const place = inDirectory('new', 'place')
  prepareOutput(place, inDirectory('more', 'r.json'))
  deepEqual([existsSync(inDirectory('new')), existsSync(inDirectory('more'))], [false, false])
  mkdirSync(place, { recursive: true })
  prepareOutput(place, '-')
  prepareOutput(place, undefined)
  deepEqual(readdirSync(place), [])
})

test('a place is named from where the person is, not from the clone', (context) => {
  context.after(() => Reflect.deleteProperty(process.env, 'STARTGRID_DIRECTORY'))
  process.env.STARTGRID_DIRECTORY = DIRECTORY
  equal(prepareOutput('out', undefined), inDirectory('out'))
})

test('a place that cannot be written to is refused in a sentence', () => {
  const file = inDirectory('file')
  writeFileSync(file, '')
  const refused = (output: string, json: string | undefined, message: RegExp) =>
    throws(
      () => prepareOutput(output, json),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  refused(join(file, 'x'), undefined, /^Nothing can .*--output\.$/)
  refused(DIRECTORY, join(file, 'x.json'), /^\S+x\.json cannot .*--json\.$/)
  refused(DIRECTORY, DIRECTORY, /is a directory/)
  // Node's own recursive mkdir never ends there.
  if (process.platform === 'linux') refused('/proc/x/y', undefined, /^Nothing can .* \/proc\/x\/y \(ENOENT/)
})

test('the command that repeats a run does not tell where its files went', () => {
  const words = ['--quick', '--output', '/home/me/x', '--json=/home/me/r.json', '--only', 'node']
  equal(commandOf('pnpm bench', words, 7), 'pnpm bench --quick --only node --seed 7')
  equal(commandOf('pnpm bench', ['--seed', '3'], 3), 'pnpm bench --seed 3')
})

test('a result of another schema, or without its experiment, is refused', () => {
  const path = inDirectory('other.json')
  for (const stored of [
    { ...rateResult(), schema: 3 },
    { ...rateResult(), experiment: undefined },
    null,
    [],
  ]) {
    writeFileSync(path, JSON.stringify(stored))
    throws(() => readResult(path), { name: 'ResultError', message: /\(its schema is .*, here it is 7\)/ })
  }
})

test('study --all: what a run of this commit has finished with as much effort is not measured again', () => {
  const results = inDirectory('finished')
  const [study] = PUBLISHED
  ok(study)
  const wanted = createStudyResult(study, { profile: 'quick', seed: 1 }, '')
  wanted.versions.startgrid = '1234567'
  const store = (directory: string, change: (result: Result) => unknown) => {
    const result = structuredClone({ ...wanted, finishedAt: wanted.startedAt })
    const probes = wanted.cells.map(({ id: cell }) => ({ cell, figures: {}, foreign: null }))
    result.heats.push({ ...newHeat({ race: '', heat: 1 }), probes })
    change(result)
    writeResult(join(results, directory, `${study.name}.json`), result)
  }
  store('2026-11-25', (result) => Object.assign(result, { finishedAt: null }))
  store('2026-11-26', (result) => Object.assign(result.versions, { startgrid: '7654321' }))
  store('2026-11-27', (result) => Object.assign(result.settings, { heats: 8 }))
  store('2026-11-27-b', (result) => Object.assign(result.settings, { profile: 'full' }))
  store('2026-11-27-c', (result) => result.cells.pop())
  store('2026-11-27-d', (result) => result.heats.pop()) // what its cells measured
  store('2026-11-27-e', (result) => Object.assign(result.cells[0] ?? {}, { skipped: 'there is no NGINX' }))
  writeFileSync(join(results, '2026-11-27', 'other.json'), '{}')
  equal(findFinished(wanted, results), undefined, 'none of these')
  store('2026-11-23', (result) => Object.assign(result, { seed: 5 }))
  store('2026-11-24', (result) => Object.assign(result, { seed: 6 }))
  equal(findFinished(wanted, results)?.seed, 6, 'the newest')
  for (const unknown of ['1234567-dirty', 'not a git checkout']) {
    wanted.versions.startgrid = unknown
    store('2026-11-28', () => {})
    equal(findFinished(wanted, results), undefined, unknown)
  }
})
