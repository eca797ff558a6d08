import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'

const START = `await import(${JSON.stringify(import.meta.resolve('../../src/page/dev/node.ts'))})
process.send('started')`

const SERVER = `
import { createServer } from 'node:http'
await import(${JSON.stringify(import.meta.resolve('../../src/page/dev/node.ts'))})
const server = createServer().listen(0, '127.0.0.1', () => process.send(server.address().port))`

/** As the documentation of ws has it. */
const ECHO = `${SERVER}
import { WebSocketServer } from ${JSON.stringify(import.meta.resolve('ws'))}
new WebSocketServer({ server, path: '/echo' }).on('connection', (ws) => ws.on('message', (data) => ws.send(String(data))))`

async function run(script: string) {
  const args = ['--conditions=development', '--input-type=module', '--eval', script]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const [message] = await Promise.race([once(child, 'message'), exited])
  equal(child.exitCode, null)
  return { child, exited, message }
}

// `node --watch` waits until the process has ended, and starts nothing before.
test('an app in development ends on SIGTERM before it listens', { timeout: 300_000 }, async () => {
  const { child, exited } = await run(START)
  try {
    child.kill()
    equal((await exited)[0], 1)
  } finally {
    child.kill('SIGKILL')
  }
})

test("Vite's WebSocket opens in an app that has none", { timeout: 300_000 }, async () => {
  const { child, message: port } = await run(SERVER)
  try {
    const vite = new WebSocket(`ws://127.0.0.1:${port}/assets/`, 'vite-hmr')
    equal(String((await once(vite, 'message'))[0]), '{"type":"connected"}')
  } finally {
    child.kill('SIGKILL')
  }
})

test("an app's WebSockets and Vite's share a server", { timeout: 300_000 }, async () => {
  const { child, message: port } = await run(ECHO)
  try {
    const vite = new WebSocket(`ws://127.0.0.1:${port}/assets/`, 'vite-hmr')
    equal(String((await once(vite, 'message'))[0]), '{"type":"connected"}')
    const own = new WebSocket(`ws://127.0.0.1:${port}/echo`)
    await once(own, 'open')
    own.send('hello')
    equal(String((await once(own, 'message'))[0]), 'hello')
    const [, response] = await once(
      new WebSocket(`ws://127.0.0.1:${port}/nowhere`).on('error', () => {}),
      'unexpected-response',
    )
    equal(response.statusCode, 400) // of ws
  } finally {
    child.kill('SIGKILL')
  }
})
