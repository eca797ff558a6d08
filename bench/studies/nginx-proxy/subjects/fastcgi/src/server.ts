import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createResponder } from './responder/responder.ts'

await startRole<typeof import('./hello.ts')>(
  'fastcgi',
  process.argv[2],
  { hello: () => import('./hello.ts'), status: () => import('./status.ts') },
  ({ createApp }, options) => {
    const responder = createResponder(createApp(options))
    return {
      // As Apache's mod_proxy_fcgi writes it.
      listen: async () => (await listen(responder.server, options.config)).replace(/^http:/, 'fcgi:'),
      close: () => responder.drain(),
    }
  },
)
