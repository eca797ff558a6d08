import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createApp } from '../src/app.ts'
import { status } from '../src/status.ts'
import { createOptions } from './options.ts'
import { serve } from './serve.ts'

test('says that it is well', async () => {
  await using server = await serve(createApp(createOptions(), status()))
  const response = await fetch(`${server.url}/_/status`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type') ?? '').toMatch(/^text\/plain; ?charset=utf-8$/)
  expect(await response.text()).toBe('OK')
})

test('has nothing else', async () => {
  await using server = await serve(createApp(createOptions(), status()))
  for (const path of ['/', '/json', '/_/status/']) {
    const response = await fetch(server.url + path)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe(PROBLEM_JSON)
  }
})

test('starts from its environment, and stops on SIGTERM without losing a request', async () => {
  using child = spawn(process.execPath, ['src/server.ts', 'status'], {
    cwd: `${import.meta.dir}/..`,
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
  expect(app).toBe('bun/status')
  expect((await ask(`${address}/_/status`)).body).toBe('OK')
  expect((await readLine()).msg).toBe('request completed')
  child.kill('SIGTERM')
  expect((await readLine()).msg).toBe('draining')
  // On the same connection. Without a delay, a slow machine would send this after idle connections are closed.
  expect(await ask(`${address}/_/status`)).toEqual({ status: 200, connection: 'close', body: 'OK' })
  expect(await exited).toEqual([0, null])
})
