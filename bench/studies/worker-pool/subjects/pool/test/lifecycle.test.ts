import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, get, globalAgent, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { until } from '@startgrid/cli/until.ts'
import { type Launch, LaunchError, launch, type Startable } from '@startgrid/grid/launcher.ts'

/** How apps with workers start and stop: what an orchestrator sees. */

const FRAMEWORKS = ['fastify', 'express', 'bun']
const LIBRARIES = ['qoper8-cp', 'piscina']
const BAD_SETTINGS = [
  ['POOL', 'threads'],
  ['POOL_SIZE', '0'],
  ['POOL_SIZE', 'many'],
  ['POOL_QUEUE', '0'],
  ['POOL_TIMEOUT_MS', '1e3'],
] as const
const linux = process.platform === 'linux'

for (const [index, framework] of FRAMEWORKS.entries()) {
  const directory = join(import.meta.dirname, '../..', framework)
  const runtime = framework === 'bun' ? 'bun' : 'node'
  const pool: Startable = { name: `${framework}/pool`, runtime, role: 'pool', directory }

  describe(`${framework}/pool`, () => {
    // Neighbours have different libraries.
    for (const library of LIBRARIES.slice(index % 2).slice(0, 1)) {
      test(`${library}: what waits for a worker at SIGTERM is finished`, async () => {
        // One worker on a busy machine needs longer for 60 pages than the limit of 9 s.
        const env = { POOL: library, POOL_SIZE: '1', LOG_LEVEL: 'info', SHUTDOWN_TIMEOUT_MS: '120000' }
        const launched = await launch(pool, { env })
        // Each on a connection of its own, which exists: one that the server has not accepted when it stops listening is reset.
        const agents = Array.from({ length: 60 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
        await Promise.all(agents.map((agent) => ask(launched, '/helloworld', agent)))
        const pages = agents.map((agent) => ask(launched, '/pooled-page?items=1000', agent))
        await Promise.race(pages)
        // As systemd does: to the whole group.
        for (const pid of childrenOf(launched)) process.kill(pid, 'SIGTERM')
        assert.equal(await launched.stop(), 0)
        const responses = await Promise.all(pages)
        assert.ok(responses.every(({ status, whole }) => status === 200 && whole))
        // Else nothing was left to finish, and this test would prove nothing.
        assert.match(launched.output(), /"msg":"draining"[\s\S]*"path":"\/pooled-page/)
      })

      for (const started of [true, false]) {
        const when = started ? 'once workers run' : 'while workers start'
        test(`${library}: nothing survives a kill -9 ${when}`, {
          skip: !linux && 'needs /proc',
        }, async () => {
          const launched = await launch(pool, { env: { POOL: library, POOL_SIZE: '2' } })
          if (started) await ask(launched, '/helloworld')
          const workers = childrenOf(launched)
          assert.equal(workers.length, library === 'piscina' ? 0 : 2)
          await launched.stop('SIGKILL')
          await until('a worker still ran', () => workers.every((pid) => !existsSync(`/proc/${pid}`)))
        })
      }
    }

    test('a bad setting is one sentence and exit 1', async () => {
      // All frameworks read them with the same function.
      for (const [name, value] of BAD_SETTINGS.slice(index, index + 1)) {
        await assert.rejects(launch(pool, { env: { [name]: value } }), (error) => {
          assert.ok(error instanceof LaunchError)
          assert.match(
            error.message,
            new RegExp(`ended with 1 before it listened: ${name} is "${value}", but must be [^\\n]+\\.$`),
          )
          return true
        })
      }
    })
  })
}

async function ask({ ready }: Launch, path: string, agent = globalAgent) {
  const [response] = (await once(get(ready.address + path, { agent }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, whole: /<\/html>$|}$/.test(await text(response)) }
}

/** The processes that an app has started; none where there is no /proc. */
function childrenOf({ ready: { pid } }: Launch): number[] {
  if (!linux) return []
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
}
