import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

const START = `await import(${JSON.stringify(import.meta.resolve('../../src/page/dev/node.ts'))})
process.send('started')`

// `node --watch` waits until the process has ended, and starts nothing before.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`an app in development ends on ${signal} before it listens`, { timeout: 300_000 }, async () => {
    const args = ['--conditions=development', '--input-type=module', '--eval', START]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const exited = once(child, 'exit')
    try {
      await Promise.race([once(child, 'message'), exited])
      equal(child.exitCode, null)
      child.kill(signal)
      equal((await exited)[0], 1)
    } finally {
      child.kill('SIGKILL')
    }
  })
}
