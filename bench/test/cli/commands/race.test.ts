import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { readResult } from '../../../src/result/result-file.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))

/** With TOKEN, requests without it get 401. */
const SEND = `if (process.env.TOKEN && request.headers.authorization !== process.env.TOKEN) response.statusCode = 401
response.end(JSON.stringify({ id: Math.random().toString(36), text: "the same".repeat(20) }))`

/** What is said of other results, test/report/study/race-document.test.ts shows of a stored race; how a race is interrupted, race-endings.test.ts; what a pilot refuses, test/measure/pilot.unit.test.ts. */
describe('a race of commands', () => {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-race-'))
  const commandLine = startCommandLine(directory)

  before(() => {
    const serve = (name: string, body: string) =>
      writeFileSync(
        join(directory, name),
        `require('node:http').createServer((request, response) => { ${body} }).listen(process.env.PORT, process.env.HOST)\n`,
      )
    serve('before.js', SEND)
    serve('slow.js', `for (let n = 0; n < 3e5; n++) Math.sqrt(n); ${SEND}`)
  })
  after(() => {
    commandLine.stop()
    rmSync(directory, { recursive: true })
  })

  /** Ends as a person's command does; what it printed besides is the whole output. */
  const race = async (...words: string[]) => {
    const env = { ...process.env, DB_PASSWORD: 's3cret', FORCE_COLOR: '0' }
    const args = [MAIN, 'race', '--output', join(directory, 'out'), ...words]
    const { code, stdout: out, stderr: err } = await startNode(args, { cwd: directory, env }).ended
    return { out, err, code }
  }
  /** Processes whose directory is that of this test. */
  const left = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`PWD=${directory}`)
        )
      } catch {
        return false
      }
    })

  const SECRETIVE =
    "TOKEN=s3cret node before.js s3cret --key s3cret --key=s3cret -ps3cret 'http://me:s3cret@localhost/?key=s3cret'"

  /** Fewer starts than a verdict takes. */
  const SHORT = ['--heats', '2']

  describe('of a command and a server that runs already, with two starts', () => {
    let running: ChildProcess | undefined
    let url = ''
    let ended: Awaited<ReturnType<typeof race>>
    const output = () => join(directory, 'running')

    before(async () => {
      const child = serveAnywhere(SEND)
      running = child
      url = `http://127.0.0.1:${Number(await once(child.stdout, 'data'))}`
      ended = await race(
        ...['--output', output(), ...SHORT, '--fail-on-regression', '3%'],
        // Two paths with weights are one load.
        ...['--path', '3:/a', '--path', '/b?key=s3cret', '--method', 'POST', '--body', 's3cret'],
        ...['--header', 'authorization: s3cret', '--header=x-other: s3cret'],
        ...['--json', join(output(), 'copy.json'), '--name', 'B=running', SECRETIVE, url],
      )
    })
    after(() => running?.kill())

    test('two starts give no verdict, and no green', () => {
      const { code, out, err } = ended
      assert.equal(code, 2, err)
      assert.match(err, /^--fail-on-regression says nothing without 5 starts of each system: exit code 2\.$/m)
      assert.match(
        out.replaceAll('\n', ' '),
        // On a busy machine, one may not count.
        /Only (?:2 starts each|\d of 2 starts counts?): no verdict on running and before; it takes 5 \((?:32 connections, )?POST 3:\/a 1:\/b\?key=…\)\./,
      )
    })

    test('the command is ended, the server runs on', async () => {
      assert.deepEqual(left(), [])
      assert.equal((await fetch(url)).status, 200)
    })

    test('its result and its reports are there', () => {
      const result = readResult(join(output(), 'result.json'))
      assert.deepEqual(
        Object.values(result.experiment.systems).map((system) => system.running),
        [undefined, url],
      )
      assert.ok((result.pilots[0]?.systems[0]?.masked ?? 0) > 0, 'the id is masked')
      const said = result.warnings.map(({ text }: { text: string }) => text).join()
      assert.match(said, /everything was measured on one launch/)
      if (process.platform === 'linux') assert.doesNotMatch(said, /Nobody accounts for/)
      assert.deepEqual(Object.values(result.experiment.races)[0], {
        systems: ['before', 'running'],
        connections: 32,
        openLoop: ['before', 'running'],
        workload: {
          path: '/a',
          method: 'POST',
          headers: { authorization: '…', 'x-other': '…' },
          body: '…',
          expect: {},
          mix: [
            { path: '/a', weight: 3, expect: {} },
            { path: '/b?key=…', weight: 1, expect: {} },
          ],
        },
      })
      const started = result.heats.flatMap(({ launches }) => launches).filter(({ app }) => app === 'before')
      assert.equal(started.length, 2)
      for (const { startup = 0, processes } of started) assert.ok(startup > 0 && processes === 1)
      assert.ok(existsSync(join(output(), 'report.md')))
      const page = readFileSync(join(output(), 'report.html'), 'utf8')
      assert.match(page, /<th[^>]*>start ms<\/th>/)
    })

    test('values of variables, flags, headers, bodies, queries and the environment are in no file', async () => {
      const { command, experiment } = readResult(join(output(), 'result.json'))
      assert.equal(
        experiment.systems.before?.command?.command,
        'TOKEN=… node before.js … --key … --key=… -p… …',
      )
      assert.match(command, / --header 'authorization: …' '--header=x-other: …' /)
      const files = readdirSync(output())
      assert.deepEqual(files.toSorted(), ['copy.json', 'report.html', 'report.md', 'result.json'])
      for (const file of files)
        assert.doesNotMatch(readFileSync(join(output(), file), 'utf8'), /s3cret/, file)
      assert.doesNotMatch(ended.out + ended.err, /s3cret/)
      for (const words of [[], ['--comment']]) {
        const { code, stdout, stderr } = await commandLine.run('report', ...words, output())
        assert.equal(code, 0, stderr)
        assert.doesNotMatch(stdout + stderr, /s3cret/)
      }
      assert.doesNotMatch(readFileSync(join(output(), 'report.md'), 'utf8'), /s3cret/)
    })
  })

  const busy = { timeout: 600_000 } // five whole starts, on a machine that runs other tests
  test(
    'full: of a slower one: the first line says which, and a regression is exit code 1',
    busy,
    async () => {
      const words = ['--heats', '5', '--fail-on-regression', '3%']
      const { out, err, code } = await race(...words, 'node before.js', 'node slow.js')
      assert.equal(code, 1, err)
      assert.match(
        out.replaceAll('\n', ' '),
        /^slow (?:(?:handles|needs) .* than before|.* times .* as before)/,
      )
      assert.match(err, /^slow is slower than before by more than 3.0 % \(GET \/\): exit code 1\.$/m)
      assert.deepEqual(left(), [])
    },
  )

  for (const [name, words, sentence] of [
    ['nothing to race', [], /^Name what to race/],
    ['an empty command', ['node before.js', ' '], /^A command is empty/],
    [
      'a time in which there is no verdict',
      ['--max-time', '10s', 'node before.js', 'node slow.js'],
      /^--max-time 10s is too short for 5 starts of each system, without which there is no verdict: give it at least \d+s\.$/,
    ],
    [
      'an address with a password, which is not repeated',
      ['http://me:s3cret@127.0.0.1:80'],
      /^'http:\/\/127\.0\.0\.1' must not hold a name and a password/,
    ],
    ['a public address', ['http://8.8.8.8:80'], /^8\.8\.8\.8 is a public address: load only servers of/],
    ['a path that is none', ['--path', 'x', 'node before.js'], /^--path is 'x'/],
    ['a header that is none', ['--header', 'x', 'node before.js'], /^--header needs a name/],
    [
      'a body that is not there',
      ['--body', '@none', 'node before.js'],
      /^--body names none, which cannot be read \(ENOENT\)\.$/,
    ],
  ] as const)
    test(`${name} is refused with one sentence`, async () => {
      const output = join(directory, 'refused', name)
      const { stdout, stderr, code } = await commandLine.run('race', '--output', output, ...words)
      assert.equal(existsSync(output), false)
      assert.equal(code, 2)
      assert.equal(stdout, '')
      assert.match(stderr.trim().split('\n').at(-1) ?? '', sentence)
    })

  test('a command that ends, beside one that is not ready yet: one sentence, and nothing is left', async () => {
    const output = join(directory, 'failed')
    const { out, err, code } = await race('--output', output, 'sleep 600', 'exit 3')
    assert.equal(existsSync(output), false)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /^exit did not start: it ended with exit code 3\.\n$/m)
    assert.deepEqual(left(), [])
  })
})

/** A server that tells its port first. @param body of the function that handles a request */
function serveAnywhere(body: string) {
  const source = `const server = require("node:http").createServer((request, response) => { ${body} }).listen(0, "127.0.0.1", () => console.log(String(server.address().port)))`
  return spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
}
