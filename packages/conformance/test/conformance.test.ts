import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { findApps } from '../../grid/src/apps.ts'
import { launch } from '../../grid/src/launcher.ts'
import { describeRequest } from '../src/contract/finding.ts'
import { checkConformance } from '../src/contract/runner.ts'

test('a server that does not respond ends the run soon', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const target = { host: '127.0.0.1', port }
    const report = await checkConformance({ target, role: 'hello', timeoutMs: 50 })
    assert.equal(report.passed.length, 0)
    assert.equal(report.failed.length, 1)
    assert.equal(report.skipped[0]?.reason, 'the server no longer responds')
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

test('a run can be stopped', async () => {
  const [app] = findApps('node/hello')
  assert.ok(app)
  const { target, stop } = await launch(app)
  try {
    const run = checkConformance({ target, role: 'hello', signal: AbortSignal.timeout(100) })
    await assert.rejects(run, { name: 'NoResponse', failure: 'aborted' })
  } finally {
    await stop()
  }
})

test('a request is described on one line', () => {
  const headers = [['x', 'a\r\nb\u00fc'] as const]
  const text = describeRequest({ method: 'PUT', target: '/a', headers, body: 'abc' })
  assert.equal(text, 'PUT /a, x: a\\r\\nb\\u00fc, a body of 3 bytes')
})
