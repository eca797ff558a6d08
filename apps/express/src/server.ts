import { createServer } from 'node:http'
import { drain } from '#shared/drain.ts'
import { start } from '#shared/lifecycle.ts'
import { listen, SERVER_OPTIONS } from '#shared/listen.ts'
import { strict } from '#shared/strict.ts'

await start<typeof import('./hello.ts')>('express', import.meta.dirname, process.argv[2], (role, options) => {
  const server = createServer(SERVER_OPTIONS, strict(role.createApp(options)))
  return {
    listen: () => listen(server, options.config),
    close: () => drain(server),
  }
})
