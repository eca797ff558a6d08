import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APPS, FRAMEWORKS, UnknownName } from '@startgrid/grid/matrix.ts'
import { HELP, readOptions, UsageError } from '../src/options.ts'

const namesOf = (...args: string[]) => readOptions(args).apps.map(({ name }) => name)

test('without options: every app, direct and behind NGINX', () => {
  const { seed, ...options } = readOptions([])
  assert.deepEqual(options, {
    apps: [...APPS],
    topologies: ['direct', 'nginx'],
    rounds: 4,
    durationMs: 500,
    warmupMs: 1000,
    connections: 64,
    list: false,
    help: false,
    json: undefined,
    output: undefined,
    download: true,
  })
  assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)
})

test('the seed differs from run to run unless it is given', () => {
  assert.ok(new Set(Array.from({ length: 10 }, () => readOptions([]).seed)).size > 1)
  assert.equal(readOptions(['--seed', '12']).seed, 12)
})

test('--only takes frameworks, apps and roles; --role narrows it down', () => {
  assert.deepEqual(namesOf('--only', 'fastify, koa/ssr'), [
    'fastify/hello',
    'fastify/ssr',
    'fastify/status',
    'koa/ssr',
  ])
  assert.deepEqual(
    namesOf('--only', 'ssr'),
    FRAMEWORKS.map((name) => `${name}/ssr`),
  )
  assert.deepEqual(namesOf('--only', 'node,bun', '--role', 'hello'), ['node/hello', 'bun/hello'])
  assert.deepEqual(namesOf('--only', 'node', '--role', 'status,hello'), ['node/hello', 'node/status'])
})

test('an app or a topology that is named twice is measured once', () => {
  assert.deepEqual(namesOf('--only', 'node,node/ssr', '--role', 'ssr'), ['node/ssr'])
  assert.deepEqual(readOptions(['--topology', 'nginx,direct,nginx']).topologies, ['nginx', 'direct'])
})

test('--quick: three frameworks and less of everything, and what is given beside it counts', () => {
  const quick = readOptions(['--quick'])
  assert.equal(new Set(quick.apps.map(({ framework }) => framework)).size, 3)
  const normal = readOptions([])
  assert.ok(quick.rounds < normal.rounds && quick.durationMs < normal.durationMs)
  assert.deepEqual(namesOf('--quick', '--only', 'bun/hello'), ['bun/hello'])
  assert.equal(readOptions(['--quick', '--rounds', '5']).rounds, 5)
})

test('numbers, times and files', () => {
  const { rounds, durationMs, warmupMs, connections } = readOptions(
    '--rounds 3 --duration 2s --warmup 750ms --connections 128'.split(' '),
  )
  assert.deepEqual([rounds, durationMs, warmupMs, connections], [3, 2000, 750, 128])
  const { json, output, list, help, download } = readOptions(
    '--json - --output somewhere --list --help --no-download'.split(' '),
  )
  assert.deepEqual([json, output, list, help, download], ['-', 'somewhere', true, true, false])
})

test('the help names every option', () => {
  for (const option of [
    'only,role,topology,quick,rounds,duration,warmup,connections',
    'seed,list,json,output,no-download,help',
  ].flatMap((names) => names.split(','))) {
    assert.match(HELP, new RegExp(`^ {2}--${option}\\b`, 'm'))
  }
  for (const line of HELP.split('\n')) assert.ok(line.length <= 80, line)
})

const TIME = 'but must be a time from 50ms to 10m, such as 500ms or 2s.'

const REFUSED: [args: string, message: string][] = [
  ['--rounds 0', "--rounds is '0', but must be a whole number from 1 to 100."],
  ['--rounds two', "--rounds is 'two', but must be a whole number from 1 to 100."],
  ['--rounds 1.5', "--rounds is '1.5', but must be a whole number from 1 to 100."],
  ['--connections 10001', "--connections is '10001', but must be a whole number from 1 to 10000."],
  ['--seed 4294967296', "--seed is '4294967296', but must be a whole number from 0 to 4294967295."],
  ['--duration 10', `--duration is '10', ${TIME}`],
  ['--duration 49ms', `--duration is '49ms', ${TIME}`],
  ['--warmup 11m', `--warmup is '11m', ${TIME}`],
  ['--only node --role', "Option '--role <value>' argument missing. pnpm bench --help lists the options."],
  ['--colour', "Unknown option '--colour'. pnpm bench --help lists the options."],
  ['fastify', "Unexpected argument 'fastify'. pnpm bench --help lists the options."],
  ['--only node/ssr --role hello', 'No app is both in --only node/ssr and in --role hello.'],
]

for (const [args, message] of REFUSED) {
  test(`refused: ${args}`, () => {
    assert.throws(
      () => readOptions(args.split(' ')),
      (error: Error) => error instanceof UsageError && error.message === message,
    )
  })
}

test('a wrong name lists the right ones', () => {
  for (const [args, rightOnes] of [
    [['--only', 'fastfy'], /fastfy.*node, fastify, express, koa, hono, bun, njs.*hello, ssr, status/],
    [['--only', ''], /There is no app ''/],
    [['--role', 'sssr'], /sssr.*hello, ssr, status/],
    [['--topology', 'proxy'], /proxy.*direct, nginx, nginx-naive, nginx-socket/],
  ] as const) {
    assert.throws(
      () => readOptions(args),
      (error: Error) => error instanceof UnknownName && rightOnes.test(error.message),
    )
  }
})
