import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempDisposableSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { findApps } from '../src/apps.ts'

/** Recipes of all frameworks on Node that need more than the app: `cluster.ts`, which is in apps/node, and `postgres.ts`. */

const APPS_ON_NODE = findApps('ssr').filter(({ runtime }) => runtime === 'node')
const RECIPE = fileURLToPath(new URL('../../../apps/node/recipes/cluster.ts', import.meta.url))

function run(env: NodeJS.ProcessEnv, args: readonly string[] = [], role = 'hello', program = RECIPE) {
  const primary = spawn(process.execPath, [...args, program, role], {
    env: { ...process.env, ...env },
    detached: true, // a group of its own, which a test can signal
  })
  process.once('exit', () => primary.exitCode === null && primary.kill('SIGKILL')) // its workers end with it
  let said = ''
  for (const stream of [primary.stdout, primary.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const workers = () =>
    said
      .split('\n')
      .filter((line) => line.includes('"msg":"listening"'))
      .map((line): { pid: number; address: string } => JSON.parse(line))
  return {
    primary,
    group: -(primary.pid ?? 0),
    said: () => said,
    async untilThereAre(count: number) {
      while (workers().length < count) await once(primary.stdout, 'data')
      return workers()
    },
  }
}

test('it replaces a worker that dies, and stops with 0', async () => {
  const { primary, untilThereAre } = run({ PORT: '0' })
  const [first] = await untilThereAre(availableParallelism())
  process.kill(first?.pid ?? 0, 'SIGKILL')
  await untilThereAre(availableParallelism() + 1)
  equal(await (await fetch(`${first?.address}/`)).text(), 'Hello World!')
  primary.kill('SIGTERM')
  deepEqual(await once(primary, 'exit'), [0, null])
})

for (const [index, { name, directory }] of APPS_ON_NODE.entries()) {
  const signal = index % 2 === 0 ? 'SIGTERM' : 'SIGINT'
  test(`${name}: ${signal} to all of its processes, and one more to its workers: no request is lost, and it stops with 0`, async () => {
    using project = mkdtempDisposableSync(join(tmpdir(), 'cluster-'))
    cpSync(RECIPE, join(project.path, 'recipes/cluster.ts'))
    symlinkSync(join(directory, 'src'), join(project.path, 'src'))
    const program = join(project.path, 'recipes/cluster.ts')
    const { primary, group, said, untilThereAre } = run({ PORT: '0' }, [], 'ssr', program)
    const workers = await untilThereAre(availableParallelism())
    const ask = () => fetch(`${workers[0]?.address}/stream?delay=1000`)
    const responses = await Promise.all([ask(), ask(), ask(), ask()])
    const { hostname, port } = new URL(workers[0]?.address ?? '')
    const waiting = Array.from({ length: 100 }, () => connect(Number(port), hostname))
    for (const socket of waiting) socket.write('GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    await Promise.all(waiting.map((socket) => once(socket, 'connect'))) // some wait in the primary
    process.kill(group, signal)
    for (const { pid } of workers) process.kill(pid, 'SIGTERM')
    for (const response of responses) match(await response.text(), /<\/html>/)
    for (const one of await Promise.all(waiting.map((socket) => text(socket)))) match(one, /"pass"/)
    deepEqual([await once(primary, 'exit'), said().match(/second/)], [[0, null], null])
  })
}

test('a worker that a signal ends while it stops is a failure, and is not replaced', async () => {
  const { primary, said, untilThereAre } = run({ PORT: '0', SHUTDOWN_DELAY_MS: '60000' })
  const workers = await untilThereAre(availableParallelism())
  primary.kill('SIGTERM')
  while (said().split('draining').length <= workers.length) await once(primary.stdout, 'data')
  for (const { pid } of workers) process.kill(pid, 'SIGKILL')
  deepEqual(await once(primary, 'exit'), [1, null])
  equal((await untilThereAre(0)).length, workers.length)
})

test('who insists ends all of it, with 1', async () => {
  const { primary, said, untilThereAre } = run({ PORT: '0', SHUTDOWN_DELAY_MS: '60000' })
  await untilThereAre(availableParallelism())
  primary.kill('SIGTERM')
  while (!said().includes('draining')) await once(primary.stdout, 'data')
  primary.kill('SIGTERM')
  deepEqual(await once(primary, 'exit'), [1, null])
})

test('a worker that crashes again and again is replaced after a pause that grows', async () => {
  // Pauses are said, not waited for.
  const preload = `
    import cluster from 'node:cluster'
    import { syncBuiltinESMExports } from 'node:module'
    import timers from 'node:timers/promises'
    cluster.on('listening', ({ process }) => process.kill('SIGKILL'))
    if (cluster.isPrimary) timers.setTimeout = async (ms, _value, { signal }) => {
      console.log(\`pause \${ms}\`)
      if (ms === 10_000) process.kill(process.pid, 'SIGTERM')
      await new Promise(setImmediate)
      signal.throwIfAborted()
    }
    syncBuiltinESMExports()`
  const { primary, said } = run({ PORT: '0' }, [
    '--import',
    `data:text/javascript,${encodeURIComponent(preload)}`,
  ])
  await once(primary, 'close')
  const pauses = Array.from(said().matchAll(/pause (\d+)/g), ([, ms]) => Number(ms))
  deepEqual([...new Set(pauses)], [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000])
})

test('a setting that is not valid is said, and ends it with 1', async () => {
  const { primary, said } = run({ PORT: 'x' })
  deepEqual(await once(primary, 'close'), [1, null])
  match(said(), /^PORT is not valid/m)
})

/** Where Debian and its kin have the programs of the newest server. Each test starts one in a folder of its own. */
const TEST_POSTGRES = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
const skip = TEST_POSTGRES === undefined && 'there is no Postgres: sudo apt-get install postgresql'

for (const { framework, directory } of APPS_ON_NODE)
  test(`full: ${framework} with Postgres`, { skip, timeout: 600_000 }, async () => {
    const words = ['--test', '--test-isolation=none', '--test-force-exit', '--test-name-pattern=postgres']
    const options = { cwd: directory, env: { ...process.env, TEST_POSTGRES } }
    const { code, stdout, stderr } = await startNode([...words, 'test/recipes.test.ts'], options).ended
    equal(code, 0, stdout + stderr)
    equal(/ pass (\d+)/.exec(stdout)?.[1], '1', stdout)
  })
