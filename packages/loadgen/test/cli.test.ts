import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Ended, startNode } from '@startgrid/cli/test-programs.ts'
import { sample } from '@startgrid/cli/test-run.ts'
import { generate } from 'selfsigned'
import { readCommand } from '../src/cli/arguments.ts'
import { type LoadResult, runLoad, sumErrors } from '../src/index.ts'
import { closedPort, RawServer, rawResponse, serve } from '../src/instrument/raw-server.ts'

const CLI = fileURLToPath(new URL('../src/cli/cli.ts', import.meta.url))

function load(...args: string[]): Promise<Ended> {
  return startNode([CLI, ...args]).ended
}

test('a table of at most 80 columns, and nothing on stderr that is no terminal', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const { code, stdout, stderr } = await load(server.url, '-c', '4', '-n', '200', '--warmup', '50ms')
  assert.equal(stderr, '')
  assert.equal(code, 0)
  for (const word of ['rate', 'errors      none', 'p99.9', '200: ', 'generator   busy'])
    assert.ok(stdout.includes(word), stdout)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
})

test('https:// takes our own certificate with --insecure alone, and names protocol and ALPN', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keyType: 'ec',
  })
  await using server = createSecureServer({ cert, key }, (_, response) => response.end('hi'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { code, stdout, stderr } = await load(url, '-c', '2', '-n', '20', '--insecure')
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^ {2}tls {9}TLSv1\.3, TLS_\w+, \w+, http\/1\.1, full: 2$/m)
  const refused = await load(url, '-c', '1', '-d', '100ms')
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^The certificate of https:\S+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): on loopback, --insecure accepts it\.\n$/,
  )
})

test('--json - writes one line of JSON and nothing else', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const { code, stdout, stderr } = await load(server.url, '-c', '4', '-n', '200', '--json', '-')
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
  const options = `--socket ${socketPath} --method delete -H a:b -H host:c --expect-status 204`.split(' ')
  const { code, stdout, stderr } = await load('http://x/y', '-c', '2', '-d', '1s', '--json', file, ...options)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^DELETE http:\/\/x\/y with 2 connections for 1 s\n/)
  assert.equal((JSON.parse(await readFile(file, 'utf8')) as LoadResult).requests, server.requests)
  await rm(directory, { recursive: true })
})

test('errors are printed, and the exit code says so', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi', { status: '500 No' })))
  const { code, stdout } = await load(server.url, '-c', '2', '-n', '50')
  assert.equal(code, 1)
  assert.match(stdout, /errors {6}status: /)
})

test('an open loop is told with both latencies, the lag, and what was offered', async () => {
  await using server = await serve((socket) => socket.write(rawResponse('hi')))
  const args = '-c 4 -d 200ms -r 500 --arrivals constant --series 100ms --seed 3 --timeout 20s'.split(' ')
  const { code, stdout, stderr } = await load(server.url, ...args)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, / with 4 connections at 500 per second \(constant\) for 200 ms\n/)
  assert.match(stdout, /\n {2}offered {5}500 per second, achieved [\d,]+ \([\d.]+ %\)\n/)
  for (const row of ['corrected', 'service', 'lag'])
    assert.match(stdout, new RegExp(`\\n {2}${row.padEnd(11)}(?: +[\\d.,]+){6} ms\\n`))
  assert.match(stdout, /\n {2}0\.10 s +0\.10 +\d+ +0 /)
  for (const line of stdout.split('\n').slice(1)) assert.ok(line.length <= 80, line)
})

test('the requests that were asked for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'loadgen-'))
  const file = (name: string) => join(directory, name)
  await writeFile(file('paths'), '# a list\n/one\n\n/two/{int:1-2}\n')
  await writeFile(file('body'), 'naïve')
  const heads = new Set<string>()
  await using server = await serve((socket, _n, head) => {
    heads.add(head.replaceAll('\r\n', ' | '))
    socket.write(rawResponse('hi'))
  })
  const run = async (...args: string[]) => {
    heads.clear()
    const command = readCommand([...args, '-n', '40', '-c', '2'])
    assert.ok(command !== 'help')
    const { requests, errors } = await runLoad(command.plan)
    assert.deepEqual([requests, sumErrors(errors)], [40, 0])
    return [...heads].sort()
  }
  const host = `host: 127.0.0.1:${server.port}`
  assert.deepEqual(await run(`${server.url}ignored`, '--path-file', file('paths')), [
    `GET /one HTTP/1.1 | ${host}`,
    `GET /two/1 HTTP/1.1 | ${host}`,
    `GET /two/2 HTTP/1.1 | ${host}`,
  ])
  assert.deepEqual(await run(`${server.url}a?q={pick:x|y}`, `${server.url}é`), [
    `GET /%C3%A9 HTTP/1.1 | ${host}`,
    `GET /a?q=x HTTP/1.1 | ${host}`,
    `GET /a?q=y HTTP/1.1 | ${host}`,
  ])
  assert.deepEqual(await run(server.url, '--new-connections', '--pipeline', '1'), [
    `GET / HTTP/1.1 | connection: close | ${host}`,
  ])
  for (const body of [
    ['--body', 'naïve'],
    ['--body-file', file('body')],
  ])
    assert.ok((await run(server.url, ...body)).includes(`POST / HTTP/1.1 | content-length: 6 | ${host}`))
  assert.deepEqual(await run(server.url, '--method', 'put'), [`PUT / HTTP/1.1 | content-length: 0 | ${host}`])
  await rm(directory, { recursive: true })
})

test('responses are compared with a file, with a hash, or with the first one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'loadgen-'))
  const file = join(directory, 'body')
  await writeFile(file, 'right')
  const sha256 = createHash('sha256').update('right').digest('hex')
  for (const args of [['--expect-body', file], ['--expect-sha256', sha256], []]) {
    // The first of each load is right.
    await using server = await serve((socket, n) =>
      socket.write(rawResponse(n === 0 || n > 9 ? 'right' : 'wrong')),
    )
    const command = readCommand([server.url, '-c', '1', '-n', '20', '--check', '1', ...args])
    assert.ok(command !== 'help')
    const { checked, errors } = await runLoad(command.plan)
    assert.deepEqual([checked, errors.body], [20, 9], args.join(' '))
  }
  await rm(directory, { recursive: true })
})

const SENTENCE = /^[^\n]+\n$/

test('what cannot be used is one sentence, and exit code 2', async () => {
  const { code, stdout, stderr } = await load('http://127.0.0.1/', '--speed', '5')
  assert.deepEqual([code, stdout], [2, ''], stderr)
  assert.match(stderr, SENTENCE)
  assert.ok(stderr.includes("Unknown option '--speed'"), stderr)
})

test('nobody listening, and another machine: one sentence, and exit code 1', async () => {
  const port = await closedPort()
  const targets = [
    [`http://127.0.0.1:${port}/`],
    ['http://192.0.2.1/'],
    ['http://nobody.invalid/'],
    ['http://x/', '--socket', '/nowhere/server.sock'],
  ]
  for (const args of sample('targets that nobody serves', targets, 1)) {
    const { code, stdout, stderr } = await load(...args, '--json', '-')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, SENTENCE)
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
