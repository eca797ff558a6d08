import { once } from 'node:events'
import type { Server } from 'node:http'

/**
 * `server.ts NAME` is the bare hello of `apps/NAME/fixtures/bare.ts`, as the framework's documentation writes it. `server.ts NAME-headers` sends the same bytes as
 * the app: its headers and a random id, by the framework's own calls. `pnpm bench overhead` compares the apps with both.
 */

/** A server that does not listen yet; Bun has no such thing. */
type Hello = Server | { port: number }

interface Framework {
  bare(): Hello | Promise<Hello>
  withHeaders(): Hello | Promise<Hello>
}

const [name = '', variant] = (process.argv[2] ?? '').split('-')
const framework = (await import(`../../../../../../apps/${name}/fixtures/bare.ts`)) as Framework
const port = await listen(
  variant === 'headers' ? limitSilence(await framework.withHeaders()) : await framework.bare(),
)
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit())

/** As in the apps: one limit for silent connections, and no `Keep-Alive` header. */
function limitSilence(hello: Hello): Hello {
  if ('port' in hello) return hello
  hello.keepAliveTimeout = 0
  return hello.setTimeout(65_000)
}

async function listen(hello: Hello): Promise<number | undefined> {
  if ('port' in hello) return hello.port
  hello.listen(0, '127.0.0.1')
  await once(hello, 'listening')
  const address = hello.address()
  return typeof address === 'object' ? address?.port : undefined
}
