import { deepEqual, equal, match } from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './support/client.ts'
import { startApp } from './support/process.ts'

function open(address: Awaited<ReturnType<typeof startApp>>['address']): Promise<Client> {
  return Client.open('socketPath' in address ? { path: address.socketPath } : address)
}

test('one line says where it listens, another that it responded, and SIGTERM drains it', async () => {
  await using app = await startApp(['status'], { LOG_LEVEL: 'info' })
  const [ready] = app.log()
  equal(ready?.app, 'fastcgi/status')
  equal(ready?.msg, 'listening')
  match(String(ready?.address), /^fcgi:\/\/127\.0\.0\.1:\d+$/)
  const client = await open(app.address)
  equal(String((await client.get('/_/status')).body), 'OK')
  app.child.kill('SIGTERM')
  while (app.log().length < 3) await sleep(5)
  // On the same connection, which was idle when the server stopped listening.
  equal(String((await client.get('/_/status')).body), 'OK')
  await client.closed()
  equal(await app.exited, 0)
  deepEqual(
    app.log().map(({ msg }) => msg),
    ['listening', 'request completed', 'draining', 'request completed', 'stopped'],
  )
})

test('a unix socket instead of a port, gone afterwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
  try {
    const socketPath = join(directory, 'app.sock')
    await using app = await startApp(['hello'], { SOCKET: socketPath })
    deepEqual(app.address, { socketPath })
    const client = await open(app.address)
    equal(String((await client.get('/json')).body), '{"hello":"world"}')
    app.child.kill('SIGTERM')
    equal(await app.exited, 0)
    equal(existsSync(socketPath), false)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('what it cannot do is one sentence and exit 1', async () => {
  for (const [args, env, sentence] of [
    [['ssr'], {}, "There is no app 'ssr' here, only hello, status.\n"],
    [[], {}, 'Say which app to start: hello, status.\n'],
    [['hello'], { PORT: 'x' }, 'PORT is "x", but must be a whole number from 0 to 65535.\n'],
  ] as const) {
    await using app = await startApp(args, env)
    equal(await app.exited, 1)
    equal(app.errors(), sentence)
  }
})
