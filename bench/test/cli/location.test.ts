import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readOptions } from '../../src/cli/options.ts'
import { experimentOf } from '../../src/experiment/grid.ts'
import { modeOf, type Options } from '../../src/experiment/options.ts'
import { createResult } from '../../src/experiment/result.ts'

const URL = 'http://10.0.0.9:3000'
const words = (text: string) => readOptions(text.split(' '))
const plan = (options: Options) => createResult(experimentOf(options), options, '')

test('without a word servers are processes of this machine', () => {
  const options = readOptions([])
  assert.equal(modeOf(options), 'native')
  const { mode, target, settings } = plan(options)
  assert.deepEqual([mode, target, settings.pauseMs], ['native', null, 0])
})

test('--target is one cell of its role, in more and longer slices, with a rest between heats', () => {
  const options = words(`--target ${URL}/ --role ssr --seed 1`)
  const { mode, target, cells, settings } = plan(options)
  assert.equal(modeOf(options), 'target')
  assert.deepEqual([mode, target], ['target', { origin: URL, absent: [] }])
  assert.deepEqual(
    cells.map(({ id, workload, connections, warmupMs, twinOf }) => [
      id,
      workload,
      connections,
      warmupMs,
      twinOf,
    ]),
    [['target/ssr direct', 'GET /', 8, 1500, null]],
  )
  const { heats, slices, sliceMs, pauseMs, maxTimeMs } = settings
  assert.deepEqual([heats, slices, sliceMs, pauseMs, maxTimeMs], [10, 3, 500, 2000, 180_000])
})

test('what is given beside --target counts', () => {
  const text = `--target ${URL} --role ssr --heats 5 --connections 16 --without stream,pipelined-stream`
  const { target, cells, settings } = plan(words(text))
  assert.deepEqual(target?.absent, ['stream', 'pipelined-stream'])
  assert.equal(cells[0]?.connections, 16)
  const { profile, heats, sliceMs, pauseMs, maxTimeMs } = settings
  assert.deepEqual([profile, heats, sliceMs, pauseMs, maxTimeMs], ['custom', 5, 500, 2000, null])
})

const REFUSED: [args: string, message: RegExp][] = [
  [`--target ${URL}`, /^--target needs the --role of the app that runs there, one of hello, ssr, status\.$/],
  [`--target ${URL} --role hello,ssr`, /^--target needs the --role of the app/],
  [`--target ${URL} --role ssr --only node`, /^--only and --target exclude each other\.$/],
  [`--target ${URL} --role ssr --topology direct`, /^--topology and --target exclude each other\.$/],
  [
    `--target ${URL} --role ssr --without streams`,
    /^--without is 'streams', but must be stream or pipelined-stream\.$/,
  ],
  ['--target https://app.example --role ssr', /without TLS/],
  ['--without stream', /^--without goes with --target alone/],
]

for (const [args, message] of REFUSED) {
  test(`refused: ${args}`, () => {
    assert.throws(
      () => words(args),
      (error: Error) => error instanceof UsageError && message.test(error.message),
    )
  })
}

test('a wrong role lists the right ones', () => {
  assert.throws(
    () => words(`--target ${URL} --role page`),
    (error: Error) => error instanceof UsageError && /hello, ssr, status/.test(error.message),
  )
})
