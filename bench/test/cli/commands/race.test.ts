import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { namesOf, withoutValues } from '../../../src/experiment/race.ts'
import { validateResult } from '../../../src/model/result-file.ts'

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))

describe('a race of commands', () => {
  let directory = ''

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-race-'))
    const serve = (name: string, body: string) =>
      writeFileSync(
        join(directory, name),
        `require('node:http').createServer((request, response) => { ${body} }).listen(process.env.PORT, process.env.HOST)\n`,
      )
    // With TOKEN, requests without it get 401.
    const send = `if (process.env.TOKEN && request.headers.authorization !== process.env.TOKEN) response.statusCode = 401
response.end(JSON.stringify({ id: Math.random().toString(36), text: "the same".repeat(20) }))`
    serve('before.js', send)
    serve('after.js', `for (let n = 0; n < 1e5; n++) Math.sqrt(n); ${send}`)
    serve('slow.js', `for (let n = 0; n < 3e5; n++) Math.sqrt(n); ${send}`)
    serve('other.js', 'response.end("other")')
    serve(
      'mortal.js',
      'response.end("x"); globalThis.count = (globalThis.count ?? 0) + 1; if (count === 500) console.error("worn out"), process.exit(7)',
    )
    serve(
      'failing.js',
      'globalThis.count = (globalThis.count ?? 0) + 1; response.statusCode = process.env.FAILS && count > 10 ? 500 : 200; response.end("x")',
    )
    serve('random.js', 'response.end(Array.from({ length: 50 }, () => Math.random()).join(" "))')
  })
  after(() => rmSync(directory, { recursive: true }))

  /** Ends as a person's command does; what it printed besides is the whole output. */
  const race = async (...words: string[]) => {
    const child = spawn(process.execPath, [MAIN, 'race', '--output', join(directory, 'out'), ...words], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ])
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

  describe('with a slower one', () => {
    let ended: Awaited<ReturnType<typeof race>>
    const output = () => join(directory, 'slower')

    before(async () => {
      ended = await race(
        ...['--output', output(), '--heats', '5', '--fail-on-regression', '3%'],
        // Two paths with weights are one load.
        ...['--path', '3:/a', '--path', '/b'],
        ...['--header', 'authorization: s3cret', '--header', 'x-other: s3cret', '--name', 'A=guarded'],
        ...['TOKEN=s3cret node before.js', 'TOKEN=s3cret node slow.js'],
      )
    })

    test('the last sentence says which, a regression is exit code 1, and nothing is left running', () => {
      const { out, err, code } = ended
      assert.equal(code, 1, err)
      assert.match(
        out.replaceAll('\n', ' '),
        / (slow (?:handles|needs) .* than guarded|slow .* times .* as guarded).*\)\. $/,
      )
      assert.match(
        err,
        /^slow is slower than guarded by more than 3.0 % \(GET 3:\/a 1:\/b\): exit code 1\.$/m,
      )
      assert.deepEqual(left(), [])
    })

    test('its result and its reports are there', () => {
      const result = JSON.parse(readFileSync(join(output(), 'result.json'), 'utf8'))
      assert.deepEqual(validateResult(result), [])
      assert.ok(result.race.pilots[0].systems[0].masked > 0, 'the id is masked')
      assert.deepEqual(
        result.race.requests.map(({ path, weight }: { path: string; weight: number }) => [path, weight]),
        [
          ['/a', 3],
          ['/b', null],
        ],
      )
      assert.ok(
        result.heats.every((heat: { launches: { startup: number; processes: number }[] }) =>
          heat.launches.every(({ startup, processes }) => startup > 0 && processes === 1),
        ),
      )
      assert.ok(existsSync(join(output(), 'report.md')))
      const page = readFileSync(join(output(), 'report.html'), 'utf8')
      assert.match(page, /Time from the start of a process to its first right response/)
    })

    test('values of headers and of the environment are in no file', () => {
      const { command } = JSON.parse(readFileSync(join(output(), 'result.json'), 'utf8'))
      assert.match(command, /--name A=guarded /)
      for (const file of readdirSync(output()))
        assert.ok(!readFileSync(join(output(), file), 'utf8').includes('s3cret'), file)
    })
  })

  for (const [name, words, sentence] of [
    ['nothing to race', [], /^Name what to race/],
    [
      'a command that ends',
      ['node before.js', 'exit 3'],
      /exit 3 did not start: it ended with exit code 3\.$/,
    ],
    ['an empty command', ['node before.js', ' '], /^A command is empty/],
    [
      'a command that dies under load',
      ['node mortal.js'],
      /^mortal cannot be raced \(GET \/\): it ended with exit code 7: worn out\.$/,
    ],
    [
      'other work',
      ['node before.js', 'node other.js'],
      /^before and other send different bodies: after "", before has .* and other "other"\. Equal work comes first; if the difference is meant, add --different-responses\.$/,
    ],
    [
      'nothing in common',
      ['node random.js'],
      /% of the bytes that random sends for GET \/ differ from response to response/,
    ],
    [
      'a time in which there is no verdict',
      ['--max-time', '10s', 'node before.js', 'node after.js'],
      /^--max-time 10s is too short for 5 starts of each system, without which there is no verdict: give it at least \d+s\.$/,
    ],
    ['an address elsewhere', ['http://192.0.2.1:80'], /is not on this machine/],
    ['a path that is none', ['--path', 'x', 'node before.js'], /^--path is 'x'/],
    ['a header that is none', ['--header', 'x', 'node before.js'], /^--header needs a name/],
    [
      'a body that is not there',
      ['--body', '@none', 'node before.js'],
      /^--body names none, which cannot be read \(ENOENT\)\.$/,
    ],
    [
      'a status that is not expected',
      ['TOKEN=x node before.js'],
      /it responds to GET \/ with status 401, and 2xx was expected/,
    ],
  ] as const)
    test(`${name}: one sentence, and nothing is left`, async () => {
      const output = join(directory, 'failed', name)
      const { out, err, code } = await race('--output', output, ...words)
      assert.equal(existsSync(output), false)
      assert.ok(code === 1 || code === 2, `${code}`)
      assert.equal(out, '')
      assert.match(err.trim().split('\n').at(-1) ?? '', sentence)
      assert.deepEqual(left(), [])
    })

  test('Ctrl-C ends all servers, and what was measured is reported', async () => {
    const child = spawn(
      process.execPath,
      [MAIN, 'race', '--output', join(directory, 'out'), 'node before.js', 'node before.js'],
      {
        cwd: directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    child.stderr.setEncoding('utf8').on('data', (said: string) => {
      if (said.includes('heat 1 of')) child.kill('SIGINT')
    })
    const [code] = await once(child, 'exit')
    assert.equal(code, 130)
    assert.deepEqual(left(), [])
  })

  /** With fewer starts than a verdict takes, a limit makes them shorter and drops none. */
  const SHORT = ['--heats', '2', '--max-time', '10s']

  describe('of servers that run already, with two starts', () => {
    let children: ReturnType<typeof serveAnywhere>[] = []
    let urls: string[] = []
    let ended: Awaited<ReturnType<typeof race>>
    const output = () => join(directory, 'running')

    before(async () => {
      children = [serveAnywhere(), serveAnywhere()]
      const ports = await Promise.all(children.map(async ({ stdout }) => Number(await once(stdout, 'data'))))
      urls = ports.map((port) => `http://127.0.0.1:${port}`)
      ended = await race(
        ...['--output', output(), ...SHORT, '--twin', '--fail-on-regression', '3%'],
        ...['--name', 'A=@a<b>`c`', '--name', 'B=after', ...urls],
      )
    })
    after(() => {
      for (const child of children) child.kill()
    })

    test('they are raced, and run on', async () => {
      const result = JSON.parse(readFileSync(join(output(), 'result.json'), 'utf8'))
      assert.deepEqual(
        result.race.systems.map(({ url }: { url: string }) => url),
        [...urls, urls[0]], // the twin
      )
      for (const url of urls) assert.equal(await (await fetch(url)).text(), 'x')
    })

    test('two starts give no verdict, and no green', () => {
      const { code, out, err } = ended
      assert.equal(code, 2, err)
      assert.match(err, /^--fail-on-regression says nothing without 5 starts of each system: exit code 2\.$/m)
      assert.match(
        out.replaceAll('\n', ' '),
        /Only 2 starts each: no verdict on after and @a<b>`c`; it takes 5 \((?:32 connections, )?\/\)\./,
      )
    })

    test('a comment says so, and holds no markup of others', async () => {
      const child = spawn(process.execPath, [MAIN, 'report', output(), '--comment'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const comment = await text(child.stdout)
      assert.match(comment, /^\*\*\/\*\*: no verdict, because there were only 2 starts each\. {2}$/m)
      assert.match(comment, /^2 starts each, \d+ minutes?; .* against itself \d/m)
      assert.doesNotMatch(comment, /[@<>`]/)
    })
  })

  test('one alone has figures, and exit code 0', async () => {
    const { code, out, err } = await race(...SHORT, 'node before.js')
    assert.equal(code, 0, err)
    assert.match(out, /^before {2,}[\d,]+ /m)
  })

  test('one that responds otherwise under load is void, and the last sentence says why', async () => {
    const words = [...SHORT, '--name', 'A=right', '--name', 'B=wrong']
    const { out, err, code } = await race(...words, 'node failing.js', 'FAILS=1 node failing.js')
    assert.equal(code, 1, err)
    assert.match(
      out.replaceAll('\n', ' '),
      /wrong and right were not compared \(.*\/\): wrong is void \([\d,]+ requests failed .* status\)\. $/,
    )
  })

  test('systems are called by what tells them apart', () => {
    assert.deepEqual(namesOf(['node before.js', 'node after.js']), ['before', 'after'])
    assert.deepEqual(namesOf(['node a.js', 'node a.js']), ['a', 'a#2'])
    assert.deepEqual(namesOf(['node server.js', 'bun server.ts']), ['node server', 'bun server'])
    assert.deepEqual(namesOf(['PORT=1 node ./x/one.mjs --fast', 'PORT=1 node ./y/two.mjs --fast']), [
      'one',
      'two',
    ])
    assert.deepEqual(namesOf(['http://127.0.0.1:3000', 'http://127.0.0.1:3001']), [
      '127.0.0.1:3000',
      '127.0.0.1:3001',
    ])
    assert.equal(withoutValues(`A=1 B='x y' node c.js; D="z" run`), 'A=… B=… node c.js; D=… run')
  })
})

/** A server that tells its port first. */
function serveAnywhere() {
  const source =
    'const server = require("node:http").createServer((_, response) => response.end("x")).listen(0, "127.0.0.1", () => console.log(server.address().port))'
  return spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
}
