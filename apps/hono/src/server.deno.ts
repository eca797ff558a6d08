import { readConfig, Settings } from '#shared/config.ts'
import { Lifecycle } from '#shared/lifecycle.ts'
import { createLog } from '#shared/log.ts'
import { closeOnSignal } from '#shared/web-server.ts'
import { createApp } from './app.ts'
import { routes } from './role.ts'

type Address = { hostname: string; port: number }
type Serve = (
  options: object,
  fetch: (request: Request, info: { remoteAddr: Address }) => unknown,
) => { addr: Address; shutdown(): Promise<void> }
declare const Deno: { serve: Serve }

const config = readConfig(Settings)
const log = createLog(config)
const options = { config, lifecycle: new Lifecycle(log), log }
const app = createApp(options, routes)
const server = Deno.serve(
  { hostname: config.HOST, port: config.PORT, onListen() {} },
  (request, { remoteAddr }) => app.fetch(request, { remoteAddr, address: remoteAddr.hostname }),
)
const { hostname, port } = server.addr
closeOnSignal(options, `http://${hostname}:${port}`, () => server.shutdown())
