import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../src/arguments.ts'
import { duration, flag, helpOf, integer, percent, readCommandLine, text, texts } from '../src/options.ts'

const TABLE = {
  quick: flag('takes a minute'),
  target: text('URL', 'measures a server that runs'),
  without: text('NAMES', 'what it lacks', { needs: 'target' }),
  path: texts('PATH', 'what is asked'),
  heats: integer('starts', { min: 1, max: 100, default: 3, short: 'n' }),
  time: duration('how long', { min: 1000 }),
  precision: percent('of an interval'),
}

const read = (...args: string[]) => readCommandLine(args, TABLE, 'pnpm try')

test('values are read as the table says, with defaults for what is absent', () => {
  const { values, positionals } = read('a', '--path', '/a', '--path=/b', '-n', '7', '--time', '2s')
  assert.deepEqual([values.path, values.heats, values.time, values.quick], [['/a', '/b'], 7, 2000, false])
  assert.deepEqual(positionals, ['a'])
  assert.equal(read('--heats', '1', '--heats', '2').values.heats, 2, 'the last of several')
  const { values: none } = read()
  assert.deepEqual([none.heats, none.path, none.target, none.precision], [3, [], undefined, null])
})

test('what cannot be read or combined is one sentence', () => {
  const refused: [args: string, message: string][] = [
    ['--without a', '--without goes with --target alone.'],
    ['--heats 0', "--heats is '0', but must be a whole number from 1 to 100."],
    ['--fast', "Unknown option '--fast'. pnpm try --help lists the options."],
    ['--target', "Option '--target <value>' argument missing. pnpm try --help lists the options."],
  ]
  for (const [args, message] of refused)
    assert.throws(
      () => read(...args.split(' ')),
      (error: Error) => error instanceof UsageError && error.message === message,
    )
})

test('help has every option with its default', () => {
  const help = helpOf(TABLE)
  assert.match(help, /^ {2}--quick {10}takes a minute$/m)
  assert.match(help, /^ {2}-n, --heats N {4}starts \(default 3\)$/m)
})
