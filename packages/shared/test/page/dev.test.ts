import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket } from 'ws'

const VITE = `await import(${JSON.stringify(import.meta.resolve('../../src/page/dev/node.ts'))})`

/** With WebSockets as the documentation of ws has them. A second server has none. */
const SERVERS = `
import { createServer } from 'node:http'
import { WebSocketServer } from ${JSON.stringify(import.meta.resolve('ws'))}
${VITE}
const [server, other] = [createServer(), createServer()]
new WebSocketServer({ server, path: '/echo' }).on('connection', (ws) => ws.on('message', (data) => ws.send(String(data))))
server.listen(0, '127.0.0.1', () => other.listen(0, '127.0.0.1', () => process.send([server.address().port, other.address().port])))`

async function run(script: string) {
  const args = ['--conditions=development', '--input-type=module', '--eval', script]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const [message] = await Promise.race([once(child, 'message'), exited])
  equal(child.exitCode, null)
  return { child, exited, message }
}

// `node --watch` waits until the process has ended, and starts nothing before.
test('an app in development ends on SIGTERM before it listens', async () => {
  const { child, exited } = await run(`${VITE}\nprocess.send('started')`)
  try {
    child.kill()
    equal((await exited)[0], 1)
  } finally {
    child.kill('SIGKILL')
  }
})

test("Vite's WebSocket opens beside an app's own, and in an app that has none", async () => {
  const { child, message } = await run(SERVERS)
  const [port, other] = message as number[]
  try {
    for (const one of [port, other]) {
      const vite = new WebSocket(`ws://127.0.0.1:${one}/assets/`, 'vite-hmr')
      equal(String((await once(vite, 'message'))[0]), '{"type":"connected"}')
    }
    const own = new WebSocket(`ws://127.0.0.1:${port}/echo`)
    await once(own, 'open')
    own.send('hello')
    equal(String((await once(own, 'message'))[0]), 'hello')
    const nowhere = new WebSocket(`ws://127.0.0.1:${port}/nowhere`).on('error', () => {})
    const [, response] = await once(nowhere, 'unexpected-response')
    equal(response.statusCode, 400) // of ws
  } finally {
    child.kill('SIGKILL')
  }
})
