import { run } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'
import { beginRole } from '#shared/process/role.ts'
import { createResponder } from './responder/responder.ts'

const ROLES = { hello: () => import('./hello.ts'), status: () => import('./status.ts') }

const { routes, ...options } = await beginRole<typeof import('./hello.ts')>('fastcgi', ROLES)
const responder = createResponder(routes.createApp(options))
await run(options, {
  // As Apache's mod_proxy_fcgi writes it.
  listen: async () => (await listen(responder.server, options.config)).replace(/^http:/, 'fcgi:'),
  close: () => responder.drain(),
})
