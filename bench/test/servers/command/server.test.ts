import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Guard, MARK } from '@startgrid/machine/guard.ts'
import { findProcesses } from '@startgrid/machine/processes.ts'
import { makeCertificate } from '@startgrid/nginx/certificate.ts'
import { ask } from '../../../src/servers/command/request.ts'
import { type CommandServer, startCommand } from '../../../src/servers/command/server.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has /proc, where processes are looked for'
const READY = { method: 'GET', path: '/', headers: {} }

describe('a command as a server', { skip }, () => {
  let directory = ''
  let guard: Guard

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-command-'))
    const { key, certificate } = await makeCertificate(directory)
    guard = new Guard()
    const serve = (body: string, listen: string) =>
      `require('node:http').createServer((request, response) => { ${body} }).listen(${listen})\n`
    writeFileSync(
      join(directory, 'hello.js'),
      serve('response.end("hello")', 'process.env.PORT, process.env.HOST'),
    )
    writeFileSync(
      join(directory, 'broken.js'),
      serve('response.statusCode = 500; response.end("no database")', 'process.env.PORT'),
    )
    writeFileSync(
      join(directory, 'mortal.js'),
      serve(
        'response.end(); if (request.url === "/end") process.stdout.write("\\x1b[31mthe end\\x1b[39m\\n", () => process.exit(3))',
        'process.env.PORT',
      ),
    )
    writeFileSync(
      join(directory, 'late.js'),
      serve('setTimeout(() => response.end(), 4000)', 'process.env.PORT, process.env.HOST'),
    )
    writeFileSync(join(directory, 'at.js'), serve('response.end("here")', '...eval(process.argv[2])'))
    writeFileSync(
      join(directory, 'starting.js'),
      `const from = Date.now(); ${serve('response.statusCode = Date.now() - from < 4000 ? 404 : 200; response.end()', 'process.env.PORT')}`,
    )
    writeFileSync(
      join(directory, 'taken.js'),
      `${serve('', '0').trim()}.once('listening', function () { require('node:http').createServer().listen(this.address().port) })\n`,
    )
    writeFileSync(
      join(directory, 'tls.js'),
      `const { readFileSync } = require('node:fs'); require('node:https').createServer({ key: readFileSync('${key}'), cert: readFileSync('${certificate}') }).listen(process.env.PORT)\n`,
    )
    writeFileSync(
      join(directory, 'deaf.js'),
      `process.on('SIGTERM', () => {}); require('./hello.js'); require('node:child_process').spawn('sleep', ['600'], { detached: true })\n`,
    )
    writeFileSync(
      join(directory, 'loud.js'),
      `require('./hello.js'); const line = Buffer.alloc(1 << 20, 'x'); let count = 0; (function write() { if (count++ < 64) process.stdout.write(line, write) })()\n`,
    )
  })
  after(async () => {
    await guard.close()
    rmSync(directory, { recursive: true })
  })

  let said: string[] = []
  beforeEach(() => {
    said = []
  })
  const left = () => findProcesses({ groups: [], mark: `${MARK}=${guard.run}.` })
  const start = (line: string, readyTimeoutMs: number | undefined = 60_000): Promise<CommandServer> =>
    startCommand(
      { command: line, directory, ready: READY, readyTimeoutMs },
      {
        ...{ guard, cpus: undefined, signal: new AbortController().signal, graceMs: 500 },
        tell: (text) => said.push(text),
        isElsewhere: (place) => said.push(place),
      },
    )

  for (const [name, line] of [
    ['alone', 'node hello.js'],
    ['below shells', `sh -c "sh -c 'node hello.js'; exit 1"`],
    ['left behind by its shell', 'node hello.js & exit 0'],
    ['in a session of its own', 'setsid node hello.js & exit 0'],
    ['loud', 'node loud.js'],
  ] as const)
    test(`${name}: it responds on its port, is accounted for, and nothing is left`, async () => {
      const server = await start(line)
      try {
        assert.equal((await ask(server.target, READY, 60_000)).body.toString(), 'hello')
        assert.equal(server.whyEnded(), undefined)
        assert.ok(server.startup > 0 && (server.readyMemory ?? 0) > 10e6)
        assert.deepEqual(new Set(server.pids()), new Set(left()))
      } finally {
        await server.stop()
      }
      assert.deepEqual(left(), [])
    })

  test('with little time to become ready it is asked all the same', async () => {
    // Less than what a response may take: the patience of the first request then is what is left.
    const server = await start(`'${process.execPath}' hello.js`, 9000)
    await server.stop()
  })

  test('one that ignores SIGTERM is killed, with what it started elsewhere', async () => {
    const server = await start('node deaf.js')
    assert.ok(left().length >= 3)
    assert.equal(await server.stop(), true)
    assert.deepEqual(left(), [])
  })

  for (const [line, reason, lines] of [
    [
      'echo so; echo it is >&2; exit 7',
      /^it ended with exit code 7$/,
      /^printed: so \| it is$|^printed: it is \| so$/,
    ],
    ['kill -9 $$', /^it was ended by SIGKILL$/, /^$/],
    [
      `node -e 'require("no-such")'`,
      /^it ended with exit code 1, because it imports what is not there: install or build that; with --git, --build says how$/,
      /^printed: Error: Cannot find module 'no-such' \| Require stack:/,
    ],
    [
      'node taken.js',
      /^it ended with exit code 1, because its port is in use: systems of a race run at the same time/,
      /^printed: Error: listen EADDRINUSE/,
    ],
    ['no-such-program', /^it ended with exit code 127$/, /no-such-program/],
  ] as const)
    test(`${line}: it says why it is no server, and the person alone is told what it printed`, async () => {
      await assert.rejects(start(line), { message: reason })
      assert.match(said.join(), lines)
      assert.deepEqual(left(), [])
    })

  for (const [name, line, place] of [
    ['only ::1', `node at.js "[Number(process.env.PORT), '::1']"`, []],
    ['a port of its own', `node at.js "[0, '127.0.0.1']"`, [/^port \d+$/]],
    ['a unix socket', `node at.js "['own.sock']"`, [/^a unix socket$/]],
  ] as const)
    test(`one that listens on ${name} is reached there`, async () => {
      const server = await start(line)
      try {
        assert.equal((await ask(server.target, READY, 60_000)).body.toString(), 'here')
      } finally {
        await server.stop()
      }
      assert.equal(said.length, place.length)
      for (const [index, one] of place.entries()) assert.match(said[index] ?? '', one)
    })

  test('one that responds otherwise has the time that it was given', async () => {
    const server = await start('node starting.js')
    await server.stop()
    await assert.rejects(start('node broken.js', 4000), {
      message:
        /^it responds to GET \/ with status 500, and 2xx was expected .* after [\d.]+ s: see --ready-timeout$/,
    })
    assert.ok(said.includes('responded: "no database"'))
  })

  test('one that speaks HTTPS is told at once', async () => {
    await assert.rejects(start('node tls.js'), { message: /^it speaks HTTPS, .*: start it without TLS$/ })
  })

  test('one that never listens, or does not respond in time', async () => {
    await assert.rejects(start('sleep 600', 300), { message: /^it does not listen after [\d.]+ s/ })
    // Its response comes, but too late.
    await assert.rejects(start('node late.js', 500), {
      message: /respond to GET \/ after [\d.]+ s|listen after [\d.]+ s/,
    })
    assert.deepEqual(left(), [])
  })

  test('one that dies later tells its last lines once', async () => {
    const server = await start('node mortal.js')
    await ask(server.target, { ...READY, path: '/end' }, 60_000).catch(() => {})
    while (server.whyEnded() === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(server.whyEnded(), 'it ended with exit code 3')
    assert.deepEqual(said, ['printed: the end'])
    await server.stop()
  })

  test('after kill -9 of the run nothing is left of it', async () => {
    const program = fileURLToPath(new URL('run-to-kill.ts', import.meta.url))
    const command = 'setsid node hello.js & exit 0'
    const run = spawn(process.execPath, [program, directory, command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(run.stdout, 'data')
    const mark = `${MARK}=${String(said).trim()}.`
    assert.equal(findProcesses({ groups: [], mark }).length, 1)
    run.kill('SIGKILL')
    while (findProcesses({ groups: [], mark }).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
  })
})
