import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readPoolOptions } from '../../src/pool/options.ts'
import { readPageOptions } from '../../src/pool/pages/options.ts'

test("without words: the source's library, one worker per core, no tuning", () => {
  const size = availableParallelism()
  assert.deepEqual(readPoolOptions([]), {
    settings: {
      library: 'qoper8-cp',
      runtime: 'node',
      size,
      messages: 100_000,
      pace: { kind: 'in-flight', count: 16 * size },
      tasksPerWorker: 1,
    },
    launches: 4,
    json: undefined,
    help: false,
  })
})

test("the source's own words", () => {
  const words = '--runtime bun --size 8 --messages 500000 --block 2000 --delay 56'.split(' ')
  const { settings } = readPoolOptions(words)
  assert.deepEqual(settings.pace, { kind: 'blocks', length: 2000, delayMs: 56 })
  assert.deepEqual([settings.runtime, settings.size, settings.messages], ['bun', 8, 500_000])
})

test('what workers have at a time is kept in flight 16-fold', () => {
  const { settings } = readPoolOptions('--library piscina --size 2 --tasks-per-worker 4'.split(' '))
  assert.deepEqual(settings.pace, { kind: 'in-flight', count: 128 })
})

const REFUSED: [words: string, sentence: RegExp][] = [
  ['--library threads', /--library is 'threads', but must be qoper8-cp or piscina\.$/],
  ['--runtime deno', /--runtime is 'deno', but must be node or bun\.$/],
  ['--size 0', /--size is '0', but must be a whole number from 1 to 64\.$/],
  ['--messages 999', /--messages/],
  ['--delay 5', /--delay .* --block too\.$/],
  ['--block 5 --in-flight 5', /exclude each other/],
  ['--tasks-per-worker 2', /for piscina/],
  ['--colour', /--colour.*pnpm bench pool --help/],
]

for (const [words, sentence] of REFUSED) {
  test(`refuses ${words}`, () => {
    assert.throws(
      () => readPoolOptions(words.split(' ')),
      (error) => error instanceof UsageError && sentence.test(error.message),
    )
  })
}

test('pages: by default the largest, in piscina on Fastify', () => {
  const { settings, launches } = readPageOptions(['--size', '2', '--duration', '500ms'])
  assert.deepEqual(settings, {
    framework: 'fastify',
    library: 'piscina',
    size: 2,
    items: 1000,
    ms: 500,
    seed: 1,
  })
  assert.equal(launches, 3)
  assert.throws(() => readPageOptions(['--framework', 'koa']), /must be fastify or express or bun/)
})
