import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { serve } from '@startgrid/shared/testing/app.ts'
import { targetOf } from '@startgrid/wire/target.ts'
import type { startClients } from '../src/clients.ts'
import { OF_APPS } from '../src/faults/apps.ts'
import { certain, confirmed, fine, found, untested } from '../src/finding.ts'
import { formatApp, formatFinding, formatMarkdown } from '../src/report.ts'
import { findRoutes, type Named } from '../src/routes.ts'
import { type Attempt, Subject, tryFaults } from '../src/subject.ts'

/** The command line, how faults are tried, and how anybody's server is read. */

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const run = (...args: readonly string[]) => startNode([CLI, ...args]).ended

const BAD = `'${process.execPath}' '${import.meta.dirname}/bad/src/server.ts'`

test('what is not understood, or cannot be tried: a sentence that says why, and exit code 2', {
  timeout: 240_000,
}, async () => {
  const serve = (more: string) =>
    `node -e "t = Date.now(); require('http').createServer((q, s) => { t = Date.now(); s.statusCode = q.url === '/' ? 200 : 404; s.end() }).listen(process.env.PORT, '127.0.0.1');${more}"`
  const cases: [string[], RegExp][] = [
    [['nobody'], /^There is no app 'nobody'\. Name a framework \(.+\.\n$/],
    [['--fault', 'rain'], /^There is no fault 'rain', only stop, .+\.\n$/],
    [['--fast'], /^Unknown option '--fast'\. pnpm reliability --help lists the options\.\n$/],
    [['--full'], /^pnpm reliability --full is gone: .+\.\n$/],
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
    const { code, stdout, stderr } = await run(...args)
    assert.match(stderr, said, args.join(' '))
    assert.deepEqual([code, stdout], [2, ''])
  }
})

test('a fault: 1, and a finding for programs; none: 0, and a line of 80 columns', {
  timeout: 240_000,
}, async () => {
  const bad = await run(`${BAD} decodes-anything`, '--fault', 'odd', '--json')
  assert.equal(bad.code, 1)
  const { runtime, findings } = JSON.parse(bad.stdout)
  assert.match(runtime, /^Node \d+\./)
  assert.ok(findings.length > 0 && findings.every((one: { word: string }) => one.word === 'dies'))
  const good = await run(`${BAD} ends-by-signal`, '--fault', 'abort')
  assert.equal(good.code, 0, good.stdout)
  assert.match(
    good.stdout,
    /^abort +ok +\d+ clients left .+\n[\s\S]+^upload +not tested: no path that takes one/m,
  )
  assert.match(good.stdout, /^No fault found in \d+ s\. .+, Node \d+/m)
})

async function routesOf(respond: RequestListener, named: Partial<Named> = {}) {
  await using server = await serve(respond)
  const target = targetOf(new URL(server.url))
  const one = { target, pid: process.pid, pids: () => [], whyEnded: () => undefined }
  return await findRoutes(async () => one, { headers: [], paths: [], ...named })
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
  const pages = routes.pages.map(({ path }) => path)
  assert.deepEqual(pages, ['/', '/a?b=c&d'])
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
  const often = (wrong: number, finding = found('hangs', 'It hung.')) => {
    count = 0
    return confirmed('slow reader', async () => [++count <= wrong ? finding : fine('It is fine.')])
  }
  assert.deepEqual([(await often(2))[0]?.kind, count], ['ok', 3])
  assert.deepEqual([(await often(3))[0]?.kind, count], ['fault', 3])
  assert.deepEqual([(await often(1, certain('dies', 'It died.')))[0]?.kind, count], ['fault', 1])
})

test('a report: 80 columns, and a table for a comment', () => {
  const grows = `+401 MB while one client did not read /${'export '.repeat(12)}`
  const first = { row: 'slow reader', ...found('grows', grows) }
  const findings = [first, { row: 'upload', ...untested('no path|that takes one') }]
  const lines = findings.flatMap((finding) => formatFinding(finding).split('\n'))
  assert.ok(lines.every((line) => line.length <= 80))
  assert.match(formatFinding(first), /^slow reader {5}grows {5}\+401 MB while/)
  const table = formatMarkdown('node server.js', { runtime: 'Node 26.1.0', findings }, 84)
  assert.match(table, /^\| slow reader \| \*\*grows\*\* +\| \+401/m)
  assert.match(table, /\| no path\\\|that takes one/)
  assert.match(table, /^1 fault found in 84 s\. node server\.js, Node 26\.1\.0$/m)
})

test('help names every fault, within 80 columns', async () => {
  const { code, stdout } = await run('--help')
  assert.equal(code, 0)
  for (const { name } of OF_APPS) assert.match(stdout, new RegExp(`\\b${name}\\b`))
  assert.ok(stdout.split('\n').every((line) => line.length <= 80))
})

/** One that is never started. */
class Nobody extends Subject {
  readonly routes = { headers: [], health: '/', page: { path: '/', status: 200 }, pages: [] }

  start(): Promise<never> {
    return Promise.reject(new Error('No such server.'))
  }
}

/** @returns what is said of two faults */
async function trial(attempt: Attempt, signal = new AbortController().signal) {
  const faults = ['f', 'g'].map((name) => ({ name, rows: { r: attempt } }))
  const open = () => new Nobody(undefined, signal)
  const findings = await tryFaults(faults, open, { signal, hasCopies: true, onFindings: () => {} })
  return findings.map(({ kind, text }) => `${kind}: ${text}`)
}

test('an error is a fault, and an interruption ends a fault that waits for ever', async () => {
  assert.deepEqual(await trial(async () => fine('Yes.')), ['ok: Yes.', 'ok: Yes.'])
  const [first] = await trial(async (subject) => fine(String(await subject.start())))
  assert.equal(first, 'fault: No such server')
  const interruption = new AbortController()
  const forEver = () => {
    interruption.abort()
    return new Promise<never>(() => {})
  }
  assert.deepEqual(await trial(forEver, interruption.signal), [])
})

test('clients end with their fault, also when it throws', { timeout: 120_000 }, async () => {
  const started: ReturnType<typeof startClients>[] = []
  await trial(async (subject) => {
    const target = { host: '127.0.0.1', port: 1 }
    started.push(subject.clients({ target, requests: [{ target: '/' }], count: 2, onSeen: () => {} }))
    throw new Error('No such thing.')
  })
  await Promise.all(started.map(({ ended }) => ended))
  assert.equal(started.length, 6) // each fault is tried three times
})

test('an app is a line, and what is not in order in it', () => {
  const lives = { row: 'abort', ...fine('It lives.') }
  const loses = { row: 'stop', ...found('lost', '5 of 5 requests') }
  assert.equal(formatApp('node/hello', [lives]), 'node/hello: 0 faults, 1 row tried\n')
  assert.match(
    formatApp('njs/hello', [lives, loses]),
    /^njs\/hello: 1 fault, 2 rows tried\nstop +lost +5 of 5 requests\n$/,
  )
})
