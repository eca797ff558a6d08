import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LoadResult } from '../src/index.ts'
import { answer, closedPort, RawServer, serve } from './raw-server.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

async function ended(child: ChildProcess): Promise<Ended> {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...output }
}

function load(...args: string[]): Promise<Ended> {
  return ended(spawn(process.execPath, [CLI, ...args]))
}

test('a table of at most 80 columns, and nothing on stderr that is no terminal', async () => {
  await using server = await serve((socket) => socket.write(answer('hi')))
  const { code, stdout, stderr } = await load(server.url, '-c', '4', '-d', '100ms', '--warmup', '50ms')
  assert.equal(stderr, '')
  assert.equal(code, 0)
  for (const word of ['rate', 'errors     none', 'p99.9', '200: ', 'of one core'])
    assert.ok(stdout.includes(word), stdout)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
})

test('--json - writes one line of JSON and nothing else', async () => {
  await using server = await serve((socket) => socket.write(answer('hi')))
  const { code, stdout, stderr } = await load(server.url, '-c', '4', '-d', '100ms', '--json', '-')
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^[^\n]+\n$/)
  const result = JSON.parse(stdout) as LoadResult
  assert.equal(result.requests, server.requests - 0)
  assert.ok(result.rate > 0 && result.latency.p999 > 0)
  assert.deepEqual(Object.keys(result.errors), ['connect', 'reset', 'timeout', 'status', 'body', 'parse'])
})

test('--json FILE, --socket, --method and -H', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'loadgen-'))
  const socketPath = join(directory, 'server.sock')
  const file = join(directory, 'result.json')
  await using server = await new RawServer((socket) => socket.write('HTTP/1.1 204 None\r\n\r\n')).listen(
    socketPath,
  )
  const options = [
    '--socket',
    socketPath,
    '--method',
    'delete',
    '-H',
    'a: b',
    '-H',
    'host: c',
    '--expect-status',
    '204',
  ]
  const { code, stdout, stderr } = await load(
    'http://x/y',
    '-c',
    '2',
    '-d',
    '50ms',
    '--json',
    file,
    ...options,
  )
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^DELETE http:\/\/x\/y with 2 connections for 50 ms\n/)
  assert.equal((JSON.parse(await readFile(file, 'utf8')) as LoadResult).requests, server.requests)
  await rm(directory, { recursive: true })
})

test('errors are printed, and the exit code says so', async () => {
  await using server = await serve((socket) => socket.write(answer('hi', { status: '500 No' })))
  const { code, stdout } = await load(server.url, '-c', '2', '-d', '50ms')
  assert.equal(code, 1)
  assert.match(stdout, /errors {5}status: /)
})

const SENTENCE = /^[^\n]+\n$/

test('what cannot be used is one sentence, and exit code 2', async () => {
  const wrong = {
    'Which URL': [],
    'is not a URL': ['127.0.0.1:3000'],
    'without TLS': ['https://127.0.0.1/'],
    'one argument too many': ['http://127.0.0.1/', 'x'],
    "Unknown option '--rate'": ['http://127.0.0.1/', '--rate', '5'],
    '--connections is "x"': ['http://127.0.0.1/', '-c', 'x'],
    'connections is 0': ['http://127.0.0.1/', '-c', '0'],
    '--duration is "5"': ['http://127.0.0.1/', '-d', '5'],
    'durationMs is 0': ['http://127.0.0.1/', '-d', '0s'],
    "must be written as 'name: value'": ['http://127.0.0.1/', '-H', 'x'],
    'not an HTTP method': ['http://127.0.0.1/', '--method', 'A B'],
    'The expected status is 1': ['http://127.0.0.1/', '--expect-status', '1'],
    'argument missing': ['http://127.0.0.1/', '-d'],
  }
  await Promise.all(
    Object.entries(wrong).map(async ([message, args]) => {
      const { code, stdout, stderr } = await load(...args)
      assert.deepEqual([code, stdout], [2, ''], stderr)
      assert.match(stderr, SENTENCE)
      assert.ok(stderr.includes(message), stderr)
    }),
  )
})

test('nobody listening, and another machine: one sentence, and exit code 1', async () => {
  const port = await closedPort()
  for (const args of [
    [`http://127.0.0.1:${port}/`],
    ['http://192.0.2.1/'],
    ['http://nobody.invalid/'],
    ['http://x/', '--socket', '/nowhere/server.sock'],
  ]) {
    const { code, stdout, stderr } = await load(...args, '--json', '-')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, SENTENCE)
  }
})

test('too few open files allowed: one sentence', { skip: process.platform === 'win32' }, async () => {
  await using server = await serve((socket) => socket.write(answer('hi')))
  const command = 'ulimit -n 60 && exec "$@"'
  const args = [process.execPath, CLI, server.url, '-c', '200', '-d', '100ms']
  const { code, stdout, stderr } = await ended(spawn('sh', ['-c', command, 'sh', ...args]))
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^This process is allowed only 60 open files[^\n]+ulimit -n[^\n]+\n$/)
})

test('Ctrl-C prints what was measured', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using server = await serve((socket, n) => {
    socket.write(answer('hi'))
    if (n === 100) resolve()
  })
  const child = spawn(process.execPath, [CLI, server.url, '-c', '2', '-d', '1m', '--json', '-'])
  const result = ended(child)
  await promise
  child.kill('SIGINT')
  const { code, stdout } = await result
  assert.equal(code, 130)
  assert.ok((JSON.parse(stdout) as LoadResult).requests > 0)
})

test('--help', async () => {
  const { code, stdout } = await load('--help')
  assert.equal(code, 0)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
})
