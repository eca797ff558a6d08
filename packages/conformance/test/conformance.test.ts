import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { type Capability, ROLES } from '../src/contract/subject.ts'
import { checkConformance, formatReport } from '../src/index.ts'
import { CORRECT, compress } from './reference/behaviour.ts'
import { startReference } from './reference/server.ts'

for (const role of ROLES) {
  test(`a ${role} app that keeps the contract shows no difference`, async () => {
    const reference = await startReference(role)
    try {
      const report = await checkConformance({ target: reference.target, role, log: reference.log })
      assert.equal(report.differences.length, 0, formatReport(report))
      assert.deepEqual(report.skipped, [])
    } finally {
      await reference.close()
    }
  })
}

test('a proxy in front may compress', mayBeCompressed)
test('an app without the stream shows no difference where that is said', () => mayBeAbsent('stream'))

test('a server that does not respond ends the run soon', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
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
  const reference = await startReference('hello')
  try {
    const signal = AbortSignal.timeout(100)
    const run = checkConformance({ target: reference.target, role: 'hello', signal })
    await assert.rejects(run, { name: 'NoResponse', failure: 'aborted' })
  } finally {
    await reference.close()
  }
})

async function mayBeCompressed(): Promise<void> {
  const reference = await startReference('ssr', { proxy: compress })
  try {
    const options = { target: reference.target, role: 'ssr', proxied: true, compressed: true } as const
    const report = await checkConformance(options)
    assert.equal(report.differences.length, 0, formatReport(report))
    assert.equal(report.passed.filter((check) => /compress(?:es the page|ed stream)/.test(check)).length, 2)
  } finally {
    await reference.close()
  }
}

async function mayBeAbsent(capability: Capability): Promise<void> {
  const path = (target: string) => (target.startsWith(`/${capability}`) ? '/absent' : CORRECT.path(target))
  const reference = await startReference('ssr', { path })
  try {
    const { target, log } = reference
    const report = await checkConformance({ target, role: 'ssr', absent: [capability], log })
    assert.equal(report.differences.length, 0, formatReport(report))
    const reasons = new Set(report.skipped.map(({ reason }) => reason))
    assert.deepEqual([...reasons], [`the app has no ${capability}`])
  } finally {
    await reference.close()
  }
}
