import { equal, rejects } from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { readConfig } from '@startgrid/shared/process/config.ts'
import { listen } from '@startgrid/shared/process/lifecycle.ts'
import { type Serve, servePool, testPool } from '@startgrid/worker-pool/test/task-pool.ts'
import { createApp } from '../src/pool.ts'

const serve: Serve = async (options) => {
  const app = createApp(options)
  await app.ready()
  const url = await listen(app.server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      app.server.close()
      app.server.closeAllConnections()
    },
  }
}

testPool(test, serve)

test('qoper8-cp: a worker that was killed while idle takes one task along, and not the server', async () => {
  const workers: ChildProcess[] = []
  const onChild = (message: unknown) => workers.push((message as { process: ChildProcess }).process)
  subscribe('child_process', onChild)
  await using app = await servePool(serve, { POOL: 'qoper8-cp', POOL_SIZE: '1' })
  equal((await app.ask('/helloworld')).status, 200)
  unsubscribe('child_process', onChild)
  workers[0]?.kill('SIGKILL')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100) // it is gone before this process hears of it
  await rejects(app.pool.run('hello'), /The task 'hello' is lost/)
  equal((await app.ask('/helloworld')).status, 200)
})
