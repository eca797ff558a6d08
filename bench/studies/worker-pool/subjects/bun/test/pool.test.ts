import { test } from 'bun:test'
import { createApp } from '@startgrid/bun/app.ts'
import { testPool } from '@startgrid/worker-pool/test/task-pool.ts'
import { pool } from '../src/pool.ts'

testPool(test, async (options) => {
  const app = createApp(options, pool(options))
  const server = Bun.serve({ ...app, hostname: '127.0.0.1', port: 0 } as Bun.Serve.Options<undefined>)
  return {
    url: `http://127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
})
