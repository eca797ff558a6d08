import { setDefaultTimeout, test } from 'bun:test'
import { testPool } from '@startgrid/worker-pool/test/task-pool.ts'
import { createApp } from '../src/pool.ts'

setDefaultTimeout(30_000)

testPool(test, async (options) => {
  const server = Bun.serve({ ...createApp(options), hostname: '127.0.0.1', port: 0, development: false })
  return {
    url: `http://127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
})
