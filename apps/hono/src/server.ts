import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { drain } from '#shared/drain.ts'
import { start } from '#shared/lifecycle.ts'
import { listen, SERVER_OPTIONS } from '#shared/listen.ts'
import { answerInvalid } from './base.ts'

await start<typeof import('./hello.ts')>('hono', import.meta.dirname, process.argv[2], (role, options) => {
  const { fetch } = role.createApp(options)
  // HTTP/1.0 needs no Host, but a URL does.
  const listener = getRequestListener(fetch, { hostname: options.config.host, errorHandler: answerInvalid })
  const server = createServer(SERVER_OPTIONS, listener)
  return {
    listen: () => listen(server, options.config),
    close: () => drain(server),
  }
})
