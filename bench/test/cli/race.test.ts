import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readResult } from '../../src/result/result-file.ts'
import { assertNothingLeft, newPlace, runHere, start } from '../fixtures/bench-run.ts'

/** What is said of other results, test/report/race.test.ts shows of a stored race; how a race is interrupted, endings.test.ts; what a pilot refuses, the tests of measure. */

/** With TOKEN, requests without it get 401. Of what is not raced it knows nothing. */
const SEND = `if (!/^.[ab]/.test(request.url)) return
if (process.env.TOKEN && request.headers.authorization !== process.env.TOKEN) response.statusCode = 401
response.end(JSON.stringify({ id: Math.random().toString(36), text: "the same".repeat(20) }))`

const listener = `require('node:http').createServer((request, response) => { ${SEND} })`

const race = (place: string, ...words: string[]) =>
  start(['race', '--output', 'out', ...words], { place, env: { DB_PASSWORD: 's3cret' } }).ended

const SECRETIVE =
  "TOKEN=s3cret node before.js s3cret --key s3cret --key=s3cret -ps3cret 'http://me:s3cret@localhost/?key=s3cret'"

test('a race of a command and a server that runs already, with two starts', async (t) => {
  const place = newPlace()
  writeFileSync(join(place, 'before.js'), `${listener}.listen(process.env.PORT, process.env.HOST)`)
  const output = join(place, 'out')
  const source = `const server = ${listener}.listen(0, "127.0.0.1", () => console.log(String(server.address().port)))`
  const running = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => running.kill())
  const url = `http://127.0.0.1:${Number(await once(running.stdout, 'data'))}`
  const { code, stdout, stderr } = await race(
    place,
    // Fewer starts than a verdict takes, and two paths with weights, which are one load.
    ...['--heats', '2', '--fail-if-slower', '--path', '3:/a', '--path', '/b?key=s3cret'],
    ...['--body', 's3cret', '-Hx-other: s3cret', '-H', 'authorization: s3cret'],
    ...['--header=x-other: s3cret2', '--json', 'out/copy.json', '--name', 'B=running', SECRETIVE, url],
  )

  await t.test('two starts give no verdict, and nothing that fails', () => {
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^It is not known whether running is slower than before by more than 3 % \(/m)
    assert.match(
      stdout.replaceAll('\n', ' '),
      // On a busy machine, one may not count.
      /Only (?:2 starts each|\d of 2 starts counts?): no verdict on running and before; it takes 5 \((?:32 connections, )?POST 3:\/a 1:\/b\?key=…(?:; [^)]* cold)?\)[.;]/,
    )
  })

  await t.test('the command is ended, the server runs on', async () => {
    assertNothingLeft(place)
    assert.equal((await fetch(`${url}/a`)).status, 200)
  })

  await t.test('its result is there, with how both were asked and what started', () => {
    const result = readResult(join(output, 'result.json'))
    const { before, running } = result.experiment.systems
    assert.deepEqual([before?.running, running?.running], [undefined, url])
    assert.ok((result.pilots[0]?.systems[0]?.masked ?? 0) > 0, 'the id is masked')
    const said = result.warnings.map(({ text }) => text).join()
    assert.match(said, /everything was measured on one launch/)
    if (process.platform === 'linux') assert.doesNotMatch(said, /Nobody accounts for/)
    assert.deepEqual(Object.values(result.experiment.races)[0], {
      systems: ['before', 'running'],
      connections: 32,
      openLoop: ['before', 'running'],
      workload: {
        path: '/a',
        method: 'POST',
        headers: { 'x-other': '…', authorization: '…' },
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
    assert.match(readFileSync(join(output, 'report.html'), 'utf8'), /<th[^>]*>start ms<\/th>/)
  })

  await t.test(
    'values of variables, flags, headers, bodies, queries and the environment are in no file',
    async () => {
      const { command, experiment } = readResult(join(output, 'result.json'))
      const { command: told } = experiment.systems.before?.command ?? {}
      assert.equal(told, 'TOKEN=… node before.js … --key … --key=… -p… …')
      assert.match(command, / '-Hx-other: …' -H 'authorization: …' '--header=x-other: …' /)
      const files = readdirSync(output).toSorted()
      assert.deepEqual(files, ['copy.json', 'report.html', 'report.md', 'result.json'])
      const again = await runHere('report', output)
      const comment = await runHere('report', '--comment', output)
      assert.deepEqual([again.code, comment.code], [0, 0], again.stderr + comment.stderr)
      assert.match(comment.stdout, /^\*\*.*POST 3/)
      const written = files.map((file) => readFileSync(join(output, file), 'utf8'))
      const said = [stdout, stderr, again.stdout, again.stderr, comment.stdout, comment.stderr]
      for (const text of [...written, ...said]) assert.doesNotMatch(text, /s3cret/)
    },
  )
})

test('a path that only one side has is left out, the others count, and the exit code says so', {
  timeout: 300_000,
}, async () => {
  const place = newPlace()
  for (const [name, paths] of [
    ['before', 'a'],
    ['after', '[ab]'],
  ])
    writeFileSync(
      join(place, `${name}.js`),
      `${listener.replace(/if .*return/, `if (!/^.${paths}/.test(request.url)) return response.writeHead(404).end()`)}.listen(process.env.PORT, process.env.HOST)`,
    )
  const words = ['--path', '/b', '--path', '/a', '--heats', '2', 'node before.js', 'node after.js']
  const { code, stdout, stderr } = await race(place, ...words)
  assert.equal(code, 2, stderr)
  assert.match(stderr, /^before responds to GET \/b with status 404 .*$/m)
  assert.match(stdout.replaceAll('\n', ' '), /GET \/b could not be raced and is left out: exit code 2\./)
  const { cells, pilots, heats } = readResult(join(place, 'out/result.json'))
  const races = [cells, pilots, heats].map((all) => [...new Set(all.map(({ race: name }) => name))])
  assert.deepEqual(races, [['GET /a'], ['GET /a'], ['GET /a']])
})

test('a command that ends, beside one that is not ready yet: one sentence, and nothing is left', async () => {
  const place = newPlace()
  const { code, stdout, stderr } = await race(place, 'sleep 600', 'exit 3')
  assert.deepEqual([code, stdout, existsSync(join(place, 'out'))], [1, '', false])
  assert.match(stderr, /^exit did not start: it ended with exit code 3\.\n$/m)
  assertNothingLeft(place)
})
