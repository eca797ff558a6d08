import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import request from 'supertest'
import { PLAIN_TEXT } from '#shared/http/contract.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'
import { createOptions } from './options.ts'

test('says OK', async () => {
  const app = createApp(createOptions(), status)
  const response = await request(app).get('/_/status')
  equal(response.status, 200)
  equal(response.headers['content-type'], PLAIN_TEXT)
  equal(response.text, 'OK')
})

test('has nothing else', async () => {
  const app = createApp(createOptions(), status)
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await request(app).get(path)
    equal(response.status, 404)
    match(response.headers['content-type'] ?? '', /^application\/problem\+json/)
  }
})

test('starts from its environment, and stops on SIGTERM without losing a request', async () => {
  using child = spawn(process.execPath, ['src/server.ts', 'status'], {
    cwd: new URL('..', import.meta.url),
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'info', SHUTDOWN_DELAY_MS: '3000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const readLine = async () => JSON.parse((await lines.next()).value ?? '{}')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (url: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get(url, { agent }, resolve).once('error', reject)
    const response = await promise
    return {
      status: response.statusCode,
      connection: response.headers.connection,
      body: await text(response),
    }
  }
  const { address, app } = await readLine()
  equal(app, 'express/status')
  equal((await ask(`${address}/_/status`)).body, 'OK')
  equal((await readLine()).msg, 'request completed')
  child.kill('SIGTERM')
  equal((await readLine()).msg, 'draining')
  // On the same connection. Without a delay, a slow machine would send this after idle connections are closed.
  deepEqual(await ask(`${address}/_/status`), { status: 200, connection: 'close', body: 'OK' })
  deepEqual(await exited, [0, null])
})
