import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { type Ended, startNode } from '@startgrid/cli/test-programs.ts'
import { generate } from 'selfsigned'
import { helpText, readCommand } from '../src/cli.ts'
import { runLoad } from '../src/load.ts'
import type { LoadResult } from '../src/result.ts'
import { noErrors } from '../src/result.ts'
import { CLOSED_PORT, rawResponse, serve } from './raw-server.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

function load(...args: string[]): Promise<Ended> {
  return startNode([CLI, ...args]).ended
}

function planOf(...args: string[]) {
  const command = readCommand(args, 'pnpm load')
  assert.ok(command !== 'help')
  return command.plan
}

const HERE = 'http://127.0.0.1/'

/** By a part of the sentence that it is refused with. */
const WRONG: Record<string, string[]> = {
  'Which URL': [],
  'is not a URL': ['127.0.0.1:3000'],
  'loopback, not for http://127.0.0.1.': [HERE, '--insecure'],
  'is not on http://127.0.0.1': [HERE, 'http://127.0.0.1:81/'],
  "Unknown option '--speed'": [HERE, '--speed', '5'],
  "Unknown option '--requests'": [HERE, '--requests', '5'],
  "--connections is 'x'": [HERE, '-c', 'x'],
  '4 processes share 2 connections': [HERE, '-c', '2', '--processes', '4'],
  "--duration is '0s'": [HERE, '-d', '0s'],
  "must be written as 'name: value'": [HERE, '-H', 'x'],
  'not an HTTP method': [HERE, '--method', 'A B'],
  'is not a random part': [`${HERE}{hex}`],
}

test('what is wrong with a command line is said in a sentence', () => {
  for (const [message, args] of Object.entries(WRONG))
    assert.throws(
      () => planOf(...args),
      (error) => error instanceof UsageError && error.message.includes(message),
      message,
    )
})

test('without options: a closed loop for ten seconds', () => {
  assert.deepEqual(planOf('http://127.0.0.1:3000/a?b=c'), {
    target: { host: '127.0.0.1', port: 3000 },
    path: ['/a?b=c'],
    method: 'GET',
    headers: { host: '127.0.0.1:3000' },
    connections: 64,
    durationMs: 10_000,
    warmupMs: 0,
    timeoutMs: 5_000,
    expect: { status: 200 },
  })
})

test('the requests that were asked for', async () => {
  const heads = new Set<string>()
  await using server = await serve((socket, _n, head) => {
    heads.add(head.replaceAll('\r\n', ' | '))
    socket.write(rawResponse('hi', { status: '201 Made' }))
  })
  const run = async (...args: string[]) => {
    heads.clear()
    const { errors } = await runLoad(planOf(...args, '-d', '60ms', '-c', '40', '--expect-status', '201'))
    assert.deepEqual(errors, noErrors())
    return [...heads].sort()
  }
  const host = `host: 127.0.0.1:${server.port}`
  assert.deepEqual(await run(`${server.url}a?q={int:0-1}&r=%7B`, `${server.url}é`), [
    `GET /%C3%A9 HTTP/1.1 | ${host}`,
    `GET /a?q=0&r=%7B HTTP/1.1 | ${host}`,
    `GET /a?q=1&r=%7B HTTP/1.1 | ${host}`,
  ])
  const post = `POST / HTTP/1.1 | host: h | a: b | content-length: 6`
  assert.ok((await run(server.url, '--body', 'naïve', '-H', 'Host: h', '-H', 'a:b')).includes(post))
  assert.deepEqual(await run(server.url, '--method', 'put'), [`PUT / HTTP/1.1 | ${host} | content-length: 0`])
})

test('help and reports fit 80 columns, and nothing is on stderr', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const args = ['-c', '4', '-d', '200ms', '--warmup', '50ms', '--timeout', '20s']
  const closed = await load(server.url, ...args)
  const open = await load(server.url, ...args, '-r', '500')
  for (const { code, stderr } of [closed, open]) assert.deepEqual([code, stderr], [0, ''])
  assert.match(closed.stdout, /^GET http:\S+ with 4 connections for 200 ms\n\n {2}rate /)
  for (const word of ['errors      none', 'p99.9', '200: ', 'generator   busy'])
    assert.ok(closed.stdout.includes(word), closed.stdout)
  assert.match(open.stdout, /\n {2}offered {5}[\d,]+ per second, achieved [\d,]+ \([\d.]+ %\)\n/)
  for (const row of ['corrected', 'service', 'lag'])
    assert.match(open.stdout, new RegExp(`\\n {2}${row.padEnd(11)}(?: +[\\d.,]+){6} ms\\n`))
  for (const text of [closed.stdout, open.stdout, helpText('pnpm load')])
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line)
})

test('https:// takes our own certificate with --insecure alone, and names protocol and ALPN', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keyType: 'ec',
  })
  await using server = createSecureServer({ cert, key }, (_, response) => response.end('hi'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { code, stdout, stderr } = await load(url, '-c', '2', '-d', '60ms', '--insecure')
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^ {2}tls {9}TLSv1\.3, TLS_\w+, \w+, http\/1\.1, full: 2$/m)
  const refused = await load(url, '-c', '1', '-d', '100ms')
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^The certificate of https:\S+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): on loopback, --insecure accepts it\.\n$/,
  )
})

test('--json - writes one line of JSON and nothing else; --json FILE writes both; errors are exit code 1', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'loadgen-'))
  const file = join(directory, 'result.json')
  await using server = await serve((socket) => socket.write(rawResponse('hi', { status: '500 No' })))
  const alone = await load(server.url, '-c', '4', '-d', '60ms', '--json', '-')
  assert.deepEqual([alone.code, alone.stderr], [1, ''])
  const result = JSON.parse(alone.stdout) as LoadResult
  assert.equal(result.requests, server.requests)
  assert.deepEqual(result.errors, { ...noErrors(), status: server.requests })
  const both = await load(server.url, '-c', '2', '-d', '60ms', '--json', file)
  assert.match(both.stdout, /errors {6}status: /)
  assert.ok((JSON.parse(await readFile(file, 'utf8')) as LoadResult).requests > 0)
  await rm(directory, { recursive: true })
})

test('what cannot be used, nobody listening, another machine: one sentence', async () => {
  const unknown = await load(HERE, '--speed', '5')
  assert.equal(unknown.code, 2)
  const nobody = await load(`http://127.0.0.1:${CLOSED_PORT}/`)
  const elsewhere = await load('http://192.0.2.1/', '--json', '-')
  assert.deepEqual([nobody.code, elsewhere.code], [1, 1])
  for (const { stdout, stderr } of [unknown, nobody, elsewhere]) {
    assert.equal(stdout, '')
    assert.match(stderr, /^[^\n]+\.\n$/)
  }
})

test('Ctrl-C prints what was measured', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using server = await serve((socket, n) => {
    socket.write(rawResponse('hi'))
    if (n === 100) resolve()
  })
  const { child, ended } = startNode([CLI, server.url, '-c', '2', '-d', '1m', '--json', '-'])
  await promise
  child.kill('SIGINT')
  const { code, stdout } = await ended
  assert.equal(code, 130)
  assert.ok((JSON.parse(stdout) as LoadResult).requests > 0)
})
