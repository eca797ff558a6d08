import { createServer } from 'node:http'
import { test } from 'node:test'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { readConfig } from '@startgrid/shared/process/config.ts'
import { listen } from '@startgrid/shared/process/lifecycle.ts'
import { testPool } from '@startgrid/worker-pool/test/task-pool.ts'
import { createApp } from '../src/pool.ts'

testPool(test, async (options) => {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options)), options)
  const url = await listen(server, readConfig({ PORT: '0' }))
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
})
