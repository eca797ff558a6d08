import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readCommand } from '../src/cli/arguments.ts'
import { helpOf } from '../src/cli/help.ts'

/** A file that exists. */
const CLI = fileURLToPath(import.meta.url)

/** By a part of the sentence that it is refused with. */
const WRONG: Record<string, string[]> = {
  'Which URL': [],
  'is not a URL': ['127.0.0.1:3000'],
  'loopback, not for http://127.0.0.1.': ['http://127.0.0.1/', '--insecure'],
  'loopback, not for https://example.com': ['https://example.com/', '-k'],
  'is not on http://127.0.0.1': ['http://127.0.0.1/', 'http://127.0.0.1:81/'],
  "Unknown option '--speed'": ['http://127.0.0.1/', '--speed', '5'],
  '--connections is "x"': ['http://127.0.0.1/', '-c', 'x'],
  'connections is 0': ['http://127.0.0.1/', '-c', '0'],
  '--duration is "5"': ['http://127.0.0.1/', '-d', '5'],
  'durationMs is 0': ['http://127.0.0.1/', '-d', '0s'],
  "must be written as 'name: value'": ['http://127.0.0.1/', '-H', 'x'],
  'not an HTTP method': ['http://127.0.0.1/', '--method', 'A B'],
  'The expected status is 1': ['http://127.0.0.1/', '--expect-status', '1'],
  'argument missing': ['http://127.0.0.1/', '-d'],
  '--rate is "fast"': ['http://127.0.0.1/', '--rate', 'fast'],
  'rate is 0,': ['http://127.0.0.1/', '--rate', '0'],
  '--arrivals is "even"': ['http://127.0.0.1/', '--rate', '5', '--arrivals', 'even'],
  'belong to an open loop': ['http://127.0.0.1/', '--arrivals', 'constant'],
  'either --duration or --requests': ['http://127.0.0.1/', '-d', '1s', '-n', '5'],
  '--requests is "many"': ['http://127.0.0.1/', '-n', 'many'],
  'requests is 0': ['http://127.0.0.1/', '-n', '0'],
  '--pipeline is "-1"': ['http://127.0.0.1/', '--pipeline=-1'],
  'no room for a pipeline': ['http://127.0.0.1/', '--pipeline', '2', '--new-connections'],
  '--seed is "x"': ['http://127.0.0.1/', '--seed', 'x'],
  '--timeout is "x"': ['http://127.0.0.1/', '--timeout', 'x'],
  '--warmup is "x"': ['http://127.0.0.1/', '--warmup', 'x'],
  '--series is "x"': ['http://127.0.0.1/', '--series', 'x'],
  'seriesMs is 1,': ['http://127.0.0.1/', '--series', '1ms'],
  '--check is "x"': ['http://127.0.0.1/', '--check', 'x'],
  'checkEvery is 0': ['http://127.0.0.1/', '--check', '0'],
  'does not say what the others must be': ['http://127.0.0.1/{hex:2}', '--check', '5'],
  'is not a random part': ['http://127.0.0.1/{hex}'],
  'Which body is right?': ['http://127.0.0.1/', '--expect-body', CLI, '--expect-sha256', 'x'],
  'expected sha256 must be': ['http://127.0.0.1/', '--expect-sha256', 'x'],
  '--expect-body: /nowhere cannot be read': ['http://127.0.0.1/', '--expect-body', '/nowhere'],
  'Which body?': ['http://127.0.0.1/', '--body', 'x', '--body-file', CLI],
  '--body-file: /nowhere cannot be read': ['http://127.0.0.1/', '--body-file', '/nowhere'],
  'is not text in UTF-8': ['http://127.0.0.1/', '--body-file', process.execPath],
  '--path-file: /nowhere cannot be read': ['http://127.0.0.1/', '--path-file', '/nowhere'],
  'There is no path in': ['http://127.0.0.1/', '--path-file', '/dev/null'],
  'one URL gives the host': ['http://127.0.0.1/', 'http://127.0.0.1/x', '--path-file', CLI],
}

for (const [message, args] of Object.entries(WRONG)) {
  test(`refused: ${args.join(' ')}`, () => {
    assert.throws(
      () => readCommand(args),
      (error) => {
        assert.ok(error instanceof UsageError, String(error))
        assert.match(error.message, /^[^\n]+[.?]$|^Which URL/)
        assert.ok(error.message.includes(message), error.message)
        return true
      },
    )
  })
}

test('without options: a closed loop for ten seconds', () => {
  assert.deepEqual(readCommand(['http://127.0.0.1:3000/a?b=c']), {
    url: 'http://127.0.0.1:3000/a?b=c',
    plan: {
      target: { host: '127.0.0.1', port: 3000 },
      path: '/a?b=c',
      method: 'GET',
      headers: { host: '127.0.0.1:3000' },
      connections: 64,
      pipeline: 1,
      newConnections: false,
      durationMs: 10_000,
      seed: 1,
      warmupMs: 0,
      timeoutMs: 5_000,
      expect: { status: 200 },
    },
    json: undefined,
  })
})

test('all options of the load', () => {
  const line =
    'http://[::1]:81/ -c 8 -n 500 -r 0.5 --arrivals constant --pipeline 2 --warmup 1m --timeout 20ms --seed 9 ' +
    '--series 10ms -H a:b -H Host:c --check 7 --expect-status 201 --json x'
  const command = readCommand(line.split(' '))
  assert.ok(command !== 'help')
  assert.deepEqual(command.plan, {
    target: { host: '::1', port: 81 },
    path: '/',
    method: 'GET',
    headers: { host: 'c', a: 'b' },
    connections: 8,
    pipeline: 2,
    newConnections: false,
    rate: 0.5,
    arrivals: 'constant',
    requests: 500,
    seed: 9,
    warmupMs: 60_000,
    timeoutMs: 20,
    seriesMs: 10,
    expect: { status: 201, checkEvery: 7, learn: true },
  })
  assert.equal(command.json, 'x')
})

test('random parts survive the reading of a URL, other braces do not', () => {
  const command = readCommand(['http://h/{int:1-9}/ü?q={pick:a|b}&r=%7B'])
  assert.ok(command !== 'help')
  assert.equal(command.plan.path, '/{int:1-9}/%C3%BC?q={pick:a|b}&r=%7B')
})

test('the help names every option, at 80 columns', () => {
  assert.equal(readCommand(['--help']), 'help')
  for (const line of helpOf('pnpm load').split('\n')) assert.ok(line.length <= 80, line)
  const used = new Set(
    Object.values(WRONG).flatMap((args) => args.flatMap((arg) => /^--[\w-]+/.exec(arg) ?? [])),
  )
  used.delete('--speed')
  for (const option of [...used, '--connections', '--duration', '--header', '--help', '--json', '--socket'])
    assert.ok(helpOf('pnpm load').includes(option), option)
})
