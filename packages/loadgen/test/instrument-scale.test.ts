/** Very many connections, and too few files for them. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runLoad } from '../src/index.ts'
import { startServer } from '../src/instrument/server.ts'
import { noErrors } from '../src/report/result.ts'

const CLI = fileURLToPath(new URL('../src/cli/cli.ts', import.meta.url))

/** Files that a Node process has open besides its connections, and some more. */
const OTHER_FILES = 100

/** What this process and those that it starts may open: Node raises the soft limit to the hard one when it starts. */
function openFilesLimit(): number {
  const { userLimits } = process.report.getReport() as {
    userLimits: { open_files: { soft: number | 'unlimited' } }
  }
  const { soft } = userLimits.open_files
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : soft
}

const CONNECTIONS = 2_000

test('2,000 connections are opened once each and all used, without an error', {
  skip:
    openFilesLimit() < CONNECTIONS + OTHER_FILES &&
    `only ${openFilesLimit()} files may be open: raise ulimit -n`,
}, async () => {
  await using server = await startServer({ kind: 'at once' })
  const result = await runLoad({
    target: server.target,
    path: '/',
    connections: CONNECTIONS,
    durationMs: 500,
    timeoutMs: 20_000,
  })
  const did = await server.did()
  assert.deepEqual(result.errors, noErrors())
  assert.equal(did.connections, CONNECTIONS)
  assert.equal(result.requests, did.respondedAt.length)
  assert.ok(result.requests >= CONNECTIONS, `${result.requests} responses`)
})

test('too few open files are noticed before any connection is opened', async () => {
  await using server = await startServer({ kind: 'at once' })
  const child = spawn('sh', [
    '-c',
    'ulimit -n 64 && exec "$@"',
    'sh',
    process.execPath,
    CLI,
    server.url,
    ...['-c', '200', '-d', '100ms'],
  ])
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  assert.match(stdout, /^GET [^\n]+\n$/, 'no report')
  assert.match(
    stderr,
    /^This process is allowed only 64 open files[^\n]+200 connections[^\n]+ulimit -n[^\n]+\n$/,
  )
  assert.equal(child.exitCode, 1)
  const did = await server.did()
  assert.equal(did.readAt.length, 0)
  assert.ok(did.connections <= 1, `${did.connections} connections: only to see whether anybody listens`)
})
