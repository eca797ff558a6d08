import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '@startgrid/cli/until.ts'
import { findProcesses } from '@startgrid/machine/processes.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/security.ts'
import { APPS } from '../src/apps.ts'
import { hasTool, launch } from '../src/launcher.ts'

/**
 * How every framework's apps start and stop: what an orchestrator sees. That none loses a request, and that a taken
 * port and a bad setting are obeyed, packages/reliability proves of each app.
 */

const nginx = await findNginx()

/** What every app sends with JSON, and what the runtime adds: one that sends more does other work in a race. */
const HEADERS = [...Object.keys(SECURITY_HEADERS), 'content-length', 'content-type', 'x-request-id'].sort()
const OF_RUNTIME = ['connection', 'date', 'keep-alive', 'server']

test('an app ends with its launcher, also if that is killed before the app runs', {
  skip: !hasTool('setpriv') && 'only setpriv of Linux asks for a signal then',
}, async (t) => {
  const [app] = APPS
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
  t.after(() => rmSync(directory, { recursive: true }))
  // One that is late.
  writeFileSync(join(directory, 'setpriv'), `#!/bin/sh\nsleep 0.2\nPATH="$REAL_PATH" exec setpriv "$@"\n`, {
    mode: 0o755,
  })
  const { PATH = '' } = process.env
  const mark = `GRID_TEST=${randomUUID()}`
  const launcher = new URL('../src/launcher.ts', import.meta.url)
  const source = `import { launch } from '${launcher}'
void launch(${JSON.stringify(app)})
process.kill(process.pid, 'SIGKILL')`
  const [name = '', value] = mark.split('=')
  const env = { ...process.env, [name]: value, PATH: `${directory}:${PATH}`, REAL_PATH: PATH }
  const left = () => findProcesses({ groups: [], mark })
  t.after(() => {
    for (const pid of left()) process.kill(pid, 'SIGKILL')
  })
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], { env })
  assert.equal(signal, 'SIGKILL')
  await until('it runs on', () => left().length === 0)
})

for (const hello of APPS.filter(({ role }) => role === 'hello')) {
  const skip = hello.runtime === 'nginx' && nginx.kind === 'none' ? nginx.describe() : false
  const ssr = APPS.find((app) => app.role === 'ssr' && app.framework === hello.framework) ?? hello

  describe(`${hello.framework}: life`, { skip }, () => {
    test('one line says where it listens; headers are those of all apps, also while it drains, and connections are kept', async () => {
      // Both must happen before it stops listening, also on a slow machine.
      const launched = await launch(hello, { env: { SHUTDOWN_DELAY_MS: '3000' } })
      const stopped = launched.stop()
      await until('it was still ready', async () => {
        const { status } = await fetch(`${launched.ready.address}/readyz`)
        return status === 503
      })
      const { status, headers } = await fetch(`${launched.ready.address}/json`)
      // If it said "close", clients would come back, and meet a socket that is about to be closed.
      assert.deepEqual([status, headers.get('connection') === 'close'], [200, false])
      const names = [...headers.keys()].filter((name) => !OF_RUNTIME.includes(name))
      assert.deepEqual(names, HEADERS)
      assert.equal(await stopped, 0)
      assert.equal(launched.output().match(/"listening"/g)?.length, 1)
    })

    // njs cannot stream, and has no other slow route. Its log is NGINX's. Its own tests send the signal twice.
    if (ssr.absent.includes('stream')) return
    test('a second signal ends it at once', async () => {
      const { ready, stop } = await launch(hello, { env: { SHUTDOWN_DELAY_MS: '90000' } })
      void stop()
      const isDraining = async () => (await fetch(`${ready.address}/readyz`)).status === 503
      await until('it was still ready', isDraining)
      assert.equal(await stop(), 1)
    })

    test('a full disk under its log stops nobody, and no exit', {
      skip: !existsSync('/dev/full') && 'no /dev/full, which refuses every write',
    }, async () => {
      const port = await claimPort({ host: '127.0.0.1', port: 0 })
      const stdio = ['ignore', openSync('/dev/full', 'w'), 'ignore'] as const
      const env = { ...process.env, PORT: String(port), NODE_ENV: 'production' }
      const runtime = hello.runtime === 'bun' ? 'bun' : process.execPath
      const cwd = hello.directory
      const child = spawn(runtime, ['src/server.ts', 'hello'], { cwd, env, stdio: [...stdio] })
      const ask = () => fetch(`http://127.0.0.1:${port}/json`).catch(() => undefined)
      await until('it did not listen', async () => (await ask())?.ok === true)
      for (let count = 0; count < 100; count++) assert.equal((await ask())?.status, 200) // more lines than wait for a write
      child.kill()
      assert.deepEqual(await once(child, 'exit'), [0, null])
    })

    test('the deadline ends what does not finish', async () => {
      const launched = await launch(ssr, { env: { SHUTDOWN_TIMEOUT_MS: '300' } })
      const response = await fetch(`${launched.ready.address}/stream?items=3&delay=5000`)
      // The shell is here, and the slow part is not.
      const body = response.text().catch(() => 'cut off')
      assert.equal(await launched.stop(), 1)
      assert.equal(await body, 'cut off')
    })
  })
}
