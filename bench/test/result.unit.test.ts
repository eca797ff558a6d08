import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { newDirectory } from '@startgrid/cli/test-programs.ts'
import { commandOf, prepareOutput } from '../src/report/output.ts'
import { readResult, writeResult } from '../src/result/result-file.ts'
import { rateResult } from './fixtures/results.ts'

const DIRECTORY = newDirectory({ after })
const inDirectory = (...names: string[]) => join(DIRECTORY, ...names)

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
  ok(!readdirSync(DIRECTORY).some((name) => name.endsWith('.tmp') && name.startsWith('taken')))
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
  const { env } = process
  context.after(() => {
    process.env = env
  })
  for (const told of [
    { STARTGRID_DIRECTORY: DIRECTORY },
    { npm_lifecycle_event: 'bench', INIT_CWD: DIRECTORY },
  ]) {
    process.env = { ...env, ...told }
    equal(prepareOutput('out', undefined), inDirectory('out'))
  }
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

test('the command that repeats a run tells neither where its files went nor where the clone is', (context) => {
  const { env } = process
  context.after(() => {
    process.env = env
  })
  const words = ['--quick', '--output', '/home/me/x', '--json=/home/me/r.json', '--only', 'node']
  equal(commandOf('pnpm bench', words, 7), 'pnpm bench --quick --only node --seed 7')
  equal(commandOf('pnpm bench', ['--seed', '3'], 3), 'pnpm bench --seed 3')
  process.env = { ...env, STARTGRID_DIRECTORY: DIRECTORY }
  const typed = 'STARTGRID_DIRECTORY="$PWD" pnpm --dir ../startgrid bench race a --seed 3'
  equal(commandOf('pnpm bench race', ['a'], 3), typed)
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
