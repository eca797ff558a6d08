import { start } from '#shared/lifecycle.ts'
import { listen } from '#shared/listen.ts'
import { createResponder } from './responder/responder.ts'

await start<typeof import('./hello.ts')>('fastcgi', import.meta.dirname, process.argv[2], (role, options) => {
  const responder = createResponder(role.createApp(options))
  return {
    // As Apache's mod_proxy_fcgi writes it.
    listen: async () => (await listen(responder.server, options.config)).replace(/^http:/, 'fcgi:'),
    close: () => responder.drain(),
  }
})
