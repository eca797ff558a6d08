import { listen } from '#shared/process/listen.ts'
import { startFound } from '#shared/process/role.ts'
import { createResponder } from './responder/responder.ts'

await startFound<typeof import('./hello.ts')>(
  'fastcgi',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const responder = createResponder(createApp(options))
    return {
      // As Apache's mod_proxy_fcgi writes it.
      listen: async () => (await listen(responder.server, options.config)).replace(/^http:/, 'fcgi:'),
      close: () => responder.drain(),
    }
  },
)
