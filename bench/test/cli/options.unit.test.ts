import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { APPS, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { readOptions } from '../../src/cli/options.ts'

const namesOf = (...args: string[]) => readOptions(args).apps.map(({ name }) => name)

test('without options: every app, direct and behind NGINX', () => {
  const { seed, ...options } = readOptions([])
  assert.deepEqual(options, {
    apps: [...APPS],
    topologies: ['direct', 'nginx'],
    profile: 'default',
    custom: false,
    heats: 3,
    latency: false,
    connections: undefined,
    maxTimeMs: null,
    heatsGiven: false,
    dryRun: false,
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

test('--quick: its profile, and what is given beside it counts', () => {
  const shape = (...args: string[]) => {
    const { profile, custom, heats, apps } = readOptions(args)
    return {
      profile,
      custom,
      heats,
      frameworks: new Set(apps.map((app) => app.framework)).size,
    }
  }
  assert.deepEqual(shape('--quick'), {
    ...{ profile: 'quick', custom: false, heats: 2, frameworks: 3 },
  })
  assert.deepEqual(namesOf('--quick', '--only', 'bun/hello'), ['bun/hello'])
  assert.deepEqual(
    namesOf('--quick'),
    ['node', 'fastify', 'express'].flatMap((name) => [`${name}/hello`, `${name}/ssr`]),
  )
  assert.deepEqual(namesOf('--quick', '--only', 'bun', '--role', 'status'), ['bun/status'])
  const { custom, heats } = shape('--quick', '--heats', '5')
  assert.deepEqual([custom, heats], [true, 5])
})

test('numbers, times and files', () => {
  const { heats, connections } = readOptions('--heats 3 --connections 128'.split(' '))
  assert.deepEqual([heats, connections], [3, 128])
  const { json, output, download, dryRun } = readOptions(
    '--json - --output somewhere --no-download --dry-run'.split(' '),
  )
  assert.deepEqual([json, output, download, dryRun], ['-', 'somewhere', false, true])
})

const REFUSED: [args: string, message: string][] = [
  ['--heats 0', "--heats is '0', but must be a whole number from 1 to 100."],
  ['--seed 4294967296', "--seed is '4294967296', but must be a whole number from 0 to 4294967295."],
  ['--max-time 10', "--max-time is '10', but must be a time from 1000ms to 1440m, such as 90s or 10m."],
  ['--thorough', 'pnpm bench --thorough is gone: --max-time 30m takes as many heats as fit.'],
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
    [['--only', 'fastfy'], /fastfy.*node, fastify, express, .*hello, ssr, status/],
    [['--only', ''], /There is no app ''/],
    [['--role', 'sssr'], /sssr.*hello, ssr, status/],
    [['--topology', 'proxy'], /proxy.*direct, nginx, nginx-tls/],
  ] as const) {
    assert.throws(
      () => readOptions(args),
      (error: Error) => error instanceof UsageError && rightOnes.test(error.message),
    )
  }
})
