import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandOf, OutputError, prepareOutput } from '../../src/report/output.ts'
import type { Result } from '../../src/result/result.ts'
import { readResult, writeResult } from '../../src/result/result-file.ts'
import { rateResult } from '../fixtures/results.ts'

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-results-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

test('what is written can be read, and its directory is made', () => {
  const path = join(DIRECTORY, 'deep', 'below', 'result.json')
  writeResult(path, rateResult())
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), rateResult())
  assert.deepEqual(readdirSync(join(DIRECTORY, 'deep', 'below')), ['result.json'])
})

test('a reader never sees half a result, even if the writer is killed', async () => {
  const path = join(DIRECTORY, 'result.json')
  const [files, results] = ['../../src/result/result-file.ts', '../fixtures/results.ts'].map((module) =>
    import.meta.resolve(module),
  )
  // Of different lengths, over and over.
  const writer = `const { writeResult } = await import('${files}')
    const result = (await import('${results}')).rateResult()
    for (let seed = 0; ; seed++) writeResult(process.argv[1], { ...result, seed, cells: result.cells.slice(0, 1 + (seed % 42)) })`
  const seeds = new Set<number>()
  const child = spawn(process.execPath, ['--input-type=module', '-e', writer, path], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    while (seeds.size < 5) {
      await sleep(0)
      const result = read(path)
      if (result) seeds.add(result.seed)
      assert.equal(child.exitCode, null, 'the writer goes on')
    }
  } finally {
    child.kill('SIGKILL')
  }
  await exited
  assert.ok(read(path), 'there is a whole result after the kill')
})

/** @throws {SyntaxError} for half a result */
function read(path: string): Result | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined // not yet there
  }
  return JSON.parse(text) as Result
}

test('what cannot be written is said, and leaves nothing behind', () => {
  const path = join(DIRECTORY, 'taken')
  mkdirSync(join(path, 'inside'), { recursive: true })
  assert.throws(() => writeResult(path, rateResult()), /EISDIR|ENOTEMPTY|EEXIST/)
  assert.deepEqual(
    readdirSync(DIRECTORY).filter((name) => name.endsWith('.tmp') && name.startsWith('taken')),
    [],
  )
})

test('a place that can be written to is prepared without a trace', () => {
  const place = join(DIRECTORY, 'new', 'place')
  prepareOutput(place, join(DIRECTORY, 'more', 'r.json'))
  assert.equal(existsSync(join(DIRECTORY, 'new')), false)
  assert.equal(existsSync(join(DIRECTORY, 'more')), false)
  mkdirSync(place, { recursive: true })
  prepareOutput(place, '-')
  prepareOutput(place, undefined)
  assert.deepEqual(readdirSync(place), [])
})

test('a place that cannot be written to is refused in a sentence', () => {
  const file = join(DIRECTORY, 'file')
  writeFileSync(file, '')
  const refused = (message: RegExp) => (error: Error) =>
    error instanceof OutputError && message.test(error.message)
  assert.throws(() => prepareOutput(join(file, 'x'), undefined), refused(/^Nothing can .*--output\.$/))
  assert.throws(
    () => prepareOutput(DIRECTORY, join(file, 'x.json')),
    refused(/^\S+x\.json cannot .*--json\.$/),
  )
  assert.throws(() => prepareOutput(DIRECTORY, DIRECTORY), refused(/is a directory/))
  // Node's own recursive mkdir never ends there.
  if (process.platform === 'linux')
    assert.throws(
      () => prepareOutput('/proc/x/y', undefined),
      refused(/^Nothing can .* \/proc\/x\/y \(ENOENT/),
    )
})

test('the command that repeats a run does not tell where its files went', () => {
  const words = ['--quick', '--output', '/home/me/x', '--json=/home/me/r.json', '--only', 'node']
  assert.equal(commandOf('pnpm bench', words, 7), 'pnpm bench --quick --only node --seed 7')
  assert.equal(commandOf('pnpm bench', ['--seed', '3'], 3), 'pnpm bench --seed 3')
})

test('a result of another schema, or without its experiment, is refused', () => {
  const path = join(DIRECTORY, 'schema-3.json')
  for (const stored of [
    { ...rateResult(), schema: 3 },
    { ...rateResult(), experiment: undefined },
    null,
    [],
  ]) {
    writeFileSync(path, JSON.stringify(stored))
    assert.throws(() => readResult(path), {
      name: 'ResultError',
      message: /\(its schema is .*, here it is 7\)/,
    })
  }
})
