import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { formatFinding, formatMarkdown } from '../src/report.ts'
import { findRoutes, type Named } from '../src/routes.ts'
import { Row } from '../src/subject.ts'
import { runOf } from './run.ts'

/** Anybody's server, by its command. */

const row = new Row('slow reader')

const BAD = `'${process.execPath}' '${import.meta.dirname}/bad/src/server.ts'`

test('what cannot be tried: a sentence that says why, and exit code 2', { timeout: 240_000 }, async () => {
  const serve = (more: string) =>
    `node -e "t = Date.now(); require('http').createServer((q, s) => { t = Date.now(); s.statusCode = q.url === '/' ? 200 : 404; s.end() }).listen(process.env.PORT, '127.0.0.1');${more}"`
  const cases: [string[], RegExp][] = [
    [
      ['https://example.com'],
      /^https:\/\/example\.com is an address, .+ give the command that starts it\.$/m,
    ],
    [['node -e ""', 'node b.js'], /^Give one command, in quotes: pnpm reliability 'node server\.js'\.$/m],
    [['node -e "process.exit(3)"'], /^It ended with exit code 3: node -e .+\.$/m],
    [[serve(''), '--path', '/nowhere'], /^GET \/nowhere is responded to with 404: name another path, .+\.$/m],
    [[serve(''), '--path', 'nowhere'], /^--path is 'nowhere', but must begin with \/ .+\.$/m],
    [[serve(''), '--upload', '/nowhere'], /^POST \/nowhere is responded to with 404: .+\.$/m],
    [
      [serve('setInterval(() => Date.now() > t + 4500 && process.exit(), 50)'), '--fault', 'late'],
      /^It ended with exit code 0.* although nobody asked for anything, .+\.$/m,
    ],
    [
      [`${serve('')} & exit 0`],
      /^The process that was started has ended, and its server goes on in the background.*\.$/m,
    ],
  ]
  for (const [args, said] of cases) {
    const { code, out, err } = await runOf(args)
    assert.match(err, said, args.join(' '))
    assert.deepEqual([code, out.includes('fault found')], [2, false])
  }
})

test('a fault: 1, and a finding for programs; none: 0, and a line of 80 columns', {
  timeout: 240_000,
}, async () => {
  const bad = await runOf([`${BAD} decodes-anything`, '--fault', 'odd', '--json'])
  assert.equal(bad.code, 1)
  const { runtime, findings } = JSON.parse(bad.out)
  assert.match(runtime, /^Node \d+\./)
  assert.ok(findings.length > 0 && findings.every((one: { word: string }) => one.word === 'dies'))
  const good = await runOf([`${BAD} ends-by-signal`, '--fault', 'abort'])
  assert.equal(good.code, 0, good.out)
  assert.match(
    good.out,
    /^abort +ok +\d+ clients left .+\n[\s\S]+^upload +not tested: no path that takes one/m,
  )
  assert.match(good.out, /^No fault found in \d+ s\. .+, Node \d+/m)
})

async function routesOf(respond: RequestListener, named: Partial<Named> = {}) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const one = { target, pid: process.pid, pids: () => [], whyEnded: () => undefined }
  return findRoutes(async () => one, { headers: [], paths: [], ...named }).finally(() => {
    server.closeAllConnections()
    server.close()
  })
}

test('what a server can be asked for is found by its links, its time and its length', async () => {
  const routes = await routesOf((request, response) => {
    const { url } = request
    const type = url === '/' ? 'text/html' : url === '/events' ? 'text/event-stream' : 'text/plain'
    response.setHeader('content-type', type)
    if (url === '/')
      response.end(
        '<a href="/a?b=c&amp;d">a</a> <a href=/late>b</a> <a href="/events"></a> <img src="https://example.com/x">',
      )
    else if (url === '/late') setTimeout(() => response.end('late'), 400)
    else if (url === '/events') response.write('data: 1\n\n')
    else if (url === '/a?b=c&d') response.end('a'.repeat(5_000))
    else response.writeHead(404).end()
  })
  assert.equal(routes.health, '/')
  assert.deepEqual(
    routes.pages.map(({ path }) => path),
    ['/', '/a?b=c&d'],
  )
  assert.deepEqual(routes.download, { path: '/a?b=c&d', bytes: 5_000 })
  assert.equal(routes.slow?.path, '/late')
  assert.equal(routes.stream, '/events')
})

test('a response without end is no health, and a server without health cannot be tried', async () => {
  const routes = await routesOf((request, response) => {
    if (request.url === '/health') response.end('ok')
    else response.write('for ever')
  })
  assert.deepEqual([routes.health, routes.stream], ['/health', '/'])
  await assert.rejects(
    routesOf((_, response) => void response.writeHead(500).end()),
    /^Error: none of \/readyz, .+ --path names one/,
  )
})

test('what a busy machine explains counts three times in a row, a crash at once', async () => {
  let count = 0
  const often = (wrong: number, finding = row.found('hangs', 'It hung.')) => {
    count = 0
    return row.confirmed(async () => [++count <= wrong ? finding : row.fine('It is fine.')])
  }
  assert.deepEqual([(await often(2))[0]?.kind, count], ['ok', 3])
  assert.deepEqual([(await often(3))[0]?.kind, count], ['fault', 3])
  assert.deepEqual([(await often(1, row.certain('dies', 'It died.')))[0]?.kind, count], ['fault', 1])
})

test('a report: 80 columns, and a table for a comment', () => {
  const findings = [
    row.found('grows', `+401 MB while one client did not read /${'export '.repeat(12)}`),
    new Row('upload').untested('no path|that takes one'),
  ]
  for (const finding of findings)
    assert.ok(
      formatFinding(finding)
        .split('\n')
        .every((line) => line.length <= 80),
    )
  assert.match(formatFinding(findings[0] ?? row.fine('')), /^slow reader {5}grows {5}\+401 MB while/)
  const table = formatMarkdown('node server.js', { runtime: 'Node 26.1.0', findings }, 84)
  assert.match(table, /^\| slow reader \| \*\*grows\*\* +\| \+401/m)
  assert.match(table, /\| no path\\\|that takes one/)
  assert.match(table, /^1 fault found in 84 s\. node server\.js, Node 26\.1\.0$/m)
})
