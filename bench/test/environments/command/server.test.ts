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
import { ask } from '../../../src/environments/command/request.ts'
import { type CommandServer, startCommand } from '../../../src/environments/command/server.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has /proc, where processes are looked for'
const READY = { method: 'GET', path: '/', headers: {} }

describe('a command as a server', { skip }, () => {
  let directory = ''
  let guard: Guard

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-command-'))
    guard = new Guard()
    const serve = (body: string, listen: string) =>
      `require('node:http').createServer((request, response) => { ${body} }).listen(${listen})\n`
    writeFileSync(
      join(directory, 'hello.js'),
      serve('response.end("hello")', 'process.env.PORT, process.env.HOST'),
    )
    writeFileSync(
      join(directory, 'broken.js'),
      serve('response.statusCode = 500; response.end()', 'process.env.PORT'),
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
    writeFileSync(join(directory, 'elsewhere.js'), serve('response.end()', '0'))
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
  const start = (line: string, readyTimeoutMs = 60_000): Promise<CommandServer> =>
    startCommand(
      { command: line, directory, ready: READY, readyTimeoutMs },
      {
        ...{ guard, cpus: undefined, signal: new AbortController().signal, graceMs: 500 },
        onLastLines: (lines) => said.push(lines),
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
    ['echo so; echo it is >&2; exit 7', /^it ended with exit code 7$/, /it is/],
    ['kill -9 $$', /^it was ended by SIGKILL$/, /^$/],
    ['node broken.js', /^it responds to GET \/ with status 500, and 2xx was expected/, /^$/],
    [
      `node -e 'require("no-such")'`,
      /^it ended with exit code 1$/,
      /^Error: Cannot find module 'no-such' \| Require stack:/,
    ],
    ['no-such-program', /^it ended with exit code 127$/, /no-such-program/],
  ] as const)
    test(`${line}: it says why it is no server, and the person alone is told what it printed`, async () => {
      await assert.rejects(start(line), { message: reason })
      assert.match(said.join(), lines)
      assert.deepEqual(left(), [])
    })

  test('one that listens elsewhere is named with its port, and one that never listens', async () => {
    await assert.rejects(start('node elsewhere.js', 5000), {
      message: /^it listens on port \d+ instead of \d+: it has to listen on PORT/,
    })
    await assert.rejects(start('sleep 600', 300), { message: /^it does not listen after 0.3 s/ })
    // Its response comes, but too late.
    await assert.rejects(start('node late.js', 500), {
      message: /respond to GET \/ after 0.5 s|listen after 0.5 s/,
    })
    assert.deepEqual(left(), [])
  })

  test('one that dies later tells its last lines once', async () => {
    const server = await start('node mortal.js')
    await ask(server.target, { ...READY, path: '/end' }, 60_000).catch(() => {})
    while (server.whyEnded() === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(server.whyEnded(), 'it ended with exit code 3')
    assert.deepEqual(said, ['the end'])
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
