import { once } from 'node:events'
import type { Server } from 'node:http'

/**
 * `server.ts NAME-bare` is the bare hello of `apps/NAME/fixtures/bare.ts`, as the framework's documentation writes it. `NAME-headers` is hello and the page
 * with the bytes of the app: its headers and a random id, by the framework's own calls. `NAME-usual` is hello with the packages that people usually
 * add, as their documentation writes it, but with the destination of the apps' log; `NAME-defaults` has their own. `pnpm bench study overhead`
 * compares the apps with the last three.
 */

/** A server that does not listen yet; Bun has no such thing. */
type Hello = Server | { port: number }

type Ways = Readonly<Record<string, () => Hello | Promise<Hello>>>

const [name = '', way = ''] = (process.argv[2] ?? '').split('-')
const ways: Ways = await import(
  ['usual', 'defaults'].includes(way)
    ? `./usual/${name}.ts`
    : `../../../../../../apps/${name}/fixtures/bare.ts`
)
const hello = await (ways[way] ?? ways.usual)?.()
if (hello === undefined) throw new Error(`There is no ${name}-${way}.`)
const port = await listen(hello)
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit())

async function listen(server: Hello): Promise<number | undefined> {
  if ('port' in server) return server.port
  server.keepAliveTimeout = 65_000 // as in the apps: it is in a header
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
}
