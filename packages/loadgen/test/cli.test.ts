import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { startNode, startProgram } from '@startgrid/cli/test-programs.ts'
import { canPin, readCpus } from '@startgrid/machine/cores.ts'
import { helpText, loadCommand, readCommand } from '../src/cli.ts'
import { Requests } from '../src/plan.ts'
import { type LoadResult, noErrors } from '../src/result.ts'
import { AT_ONCE, CLOSED_PORT, rawResponse, serve } from './raw-server.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

function planOf(...args: string[]) {
  const command = readCommand(args, 'pnpm load')
  assert.ok(command !== 'help')
  return { ...command.plan, path: [command.plan.path].flat() }
}

const HERE = 'http://127.0.0.1/'

/** By a part of the sentence that it is refused with. */
const WRONG: Record<string, string[]> = {
  'Which URL': [],
  'is not a URL': ['127.0.0.1:3000'],
  'loopback, not for http://127.0.0.1.': [HERE, '--insecure'],
  'is not on http://127.0.0.1': [HERE, 'http://127.0.0.1:81/'],
  "Unknown option '--speed'": [HERE, '--speed', '5'],
  "--connections is 'x'": [HERE, '-c', 'x'],
  '4 processes share 2 connections': [HERE, '-c', '2', '--processes', '4'],
  "--duration is '0s'": [HERE, '-d', '0s'],
  'needs a name, a colon and a value': [HERE, '-H', 'x'],
  'Invalid character in header': [HERE, '-H', 'x: a\nb'],
  'is not an HTTP method': [HERE, '--method', 'FETCH'],
  'none, which cannot be read (ENOENT)': [HERE, '--body', '@none'],
  'give one URL without a path': [`${HERE}a`, '--path', '/b'],
  "--path is 'b'": [HERE, '--path', 'b'],
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
    connections: 64,
    durationMs: 10_000,
    warmupMs: 0,
    timeoutMs: 5_000,
    expect: { status: 200 },
  })
})

test('the requests that were asked for', () => {
  const requests = (...args: string[]) => {
    const plan = planOf(...args)
    const all = new Requests(plan, () => 0.99)
    return plan.path.map((_, n) => String(all.bytes(n)).replaceAll('\r\n', ' | '))
  }
  assert.deepEqual(requests(`${HERE}a?q=1`, `${HERE}é`), [
    'GET /a?q=1 HTTP/1.1 | host: 127.0.0.1 |  | ',
    'GET /%C3%A9 HTTP/1.1 | host: 127.0.0.1 |  | ',
  ])
  assert.deepEqual(requests(HERE, '--body', 'naïve', '-H', 'Host: h', '-H', 'a:b'), [
    'POST / HTTP/1.1 | Host: h | a: b | content-length: 6 |  | naïve',
  ])
  assert.deepEqual(
    requests('unix:/run/app.sock', '--path', '2:/a', '--path', '/b', '-H', 'x: 1', '-H', 'x:2'),
    [
      ...Array<string>(2).fill('GET /a HTTP/1.1 | host: localhost | x: 1 | x: 2 |  | '),
      'GET /b HTTP/1.1 | host: localhost | x: 1 | x: 2 |  | ',
    ],
  )
  assert.deepEqual(planOf('unix:/run/app.sock').target, { socketPath: '/run/app.sock' })
  assert.deepEqual(requests(HERE, '--method', 'put'), [
    'PUT / HTTP/1.1 | host: 127.0.0.1 | content-length: 0 |  | ',
  ])
  const { target, rate, expect } = planOf('https://localhost', '-k', '-r', '5', '--expect-status', '201')
  assert.deepEqual([target, rate, expect], [{ host: 'localhost', port: 443, ca: null }, 5, { status: 201 }])
})

test('a body is the bytes of a file or of standard input', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'loadgen-'))
  const [file, socket] = ['body', 'socket'].map((name) => join(directory.path, name))
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
  await writeFile(`${file}`, bytes)
  const seen: [string | undefined, Buffer][] = []
  const server = createServer(async (request, response) => {
    seen.push([request.method, await buffer(request)])
    response.end()
  }).listen(socket)
  await once(server, 'listening')
  for (const [from, given] of [
    ['@body', ''],
    ['@-', '< body'],
  ]) {
    const line = `"$1" "$2" unix:socket --body ${from} -c 1 -d 10ms ${given}`
    const options = { cwd: directory.path, env: { ...process.env, npm_lifecycle_event: '' } }
    const { code, stdout } = await startProgram('sh', ['-c', line, 'sh', process.execPath, CLI], options)
      .ended
    assert.equal(code, 0, stdout)
    assert.deepEqual(seen.splice(0).at(-1), ['POST', bytes])
  }
  server.close()
})

test('a report goes to standard output, and with --json also to a file; it fits 80 columns, as does the help', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'loadgen-'))
  const file = join(directory.path, 'result.json')
  await using server = await serve((socket) => socket.write(rawResponse('hi', { status: '500 No' })))
  const given = '-c 4 -d 100ms --warmup 10ms -r 500 --timeout 20s --path 2:/a --path /b'
  const args = given.split(' ')
  const { code, stdout, stderr } = await startNode([CLI, server.url, ...args, '--json', file]).ended
  assert.deepEqual([code, stderr], [1, ''], 'errors')
  assert.match(
    stdout,
    /^GET http:\S+\d\/a and 1 more with 4 connections at 500 per second\sfor\s0\.1\ss\n\n {2}rate /,
  )
  for (const text of [stdout, helpText('pnpm load')])
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line)
  const { requests, errors } = JSON.parse(await readFile(file, 'utf8')) as LoadResult
  assert.deepEqual(errors, { ...noErrors(), status: requests })
  assert.match(stdout, new RegExp(`\n {2}requests +${requests} in `))
})

test('what cannot be used, nobody listening, another machine, more processes than cores: one sentence', async () => {
  const { code, stdout, stderr } = await startNode([CLI, HERE, '--speed', '5']).ended
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^[^\n]+\.\n$/)
  for (const url of [`http://127.0.0.1:${CLOSED_PORT}/`, 'http://192.0.2.1/'])
    await assert.rejects(loadCommand([url, '--json', '-'], 'pnpm load'), /^LoadError: [^\n]+\.$/)
  if (canPin() && readCpus().length <= 256)
    await assert.rejects(
      loadCommand([HERE, '-c', '256', '--processes', '256'], 'pnpm load'),
      /^LoadError: 256 processes and the server need a core each, and there are \d+: use fewer processes\.$/,
    )
})

test('too few open files end a load with a sentence', async () => {
  await using server = await serve(AT_ONCE)
  const args = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, CLI, server.url, '-c', '200']
  const { code, stdout, stderr } = await startProgram('sh', args).ended
  assert.match(stdout, /^GET [^\n]+\n$/, 'no report')
  assert.match(stderr, /^This process may not open enough files for 200 connections: .*ulimit -n.*\n$/)
  assert.equal(code, 1)
})

test('Ctrl-C prints what was measured; --json - one line of JSON and nothing else', async () => {
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
