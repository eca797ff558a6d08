import { equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tcpCounter } from '../../src/measure/load.ts'

function fileWith(t: TestContext, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-snmp-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'snmp'), text)
  return join(directory, 'snmp')
}

test('reads PassiveOpens by its name', (t) => {
  const text = 'Ip: Forwarding\nIp: 1\nTcp: MaxConn ActiveOpens PassiveOpens AttemptFails\nTcp: -1 10 42 3\n'
  equal(tcpCounter('PassiveOpens', fileWith(t, text)), 42)
})

test('what is not there is not zero', (t) => {
  equal(tcpCounter('PassiveOpens', fileWith(t, 'Tcp: MaxConn\nTcp: -1\n')), undefined)
  equal(tcpCounter('PassiveOpens', '/nowhere'), undefined)
})

test('a connection that is accepted counts', {
  skip: process.platform !== 'linux' && 'Linux only',
}, async () => {
  const before = tcpCounter('PassiveOpens') ?? 0
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
  await new Promise((resolve) => socket.once('close', resolve).resume())
  server.close()
  ok((tcpCounter('PassiveOpens') ?? 0) > before)
})
