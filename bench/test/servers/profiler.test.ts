import { deepEqual, equal, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { Guard } from '@startgrid/machine/guard.ts'
import { startCommand } from '@startgrid/servers/command.ts'
import { ask } from '@startgrid/servers/request.ts'
import { openProfiler } from '../../src/servers/command/profiler.ts'

/** Real servers on Node that load the profiler, in every way in which people start them. */

const skip = process.platform === 'linux' ? false : 'the kernel does not tell the CPU time of threads'

/** V8 could inline it into a caller, and gives the samples of a loop that it compiles on its way to that; not so after many calls by Node. */
const BURN = `function burn(request, response) {
  for (let n = 0; n < 2e5; n++) globalThis.n = n
  for (let n = 0; n < 2e3; n++) Object.setPrototypeOf({}, null)
  response.end(String(require('node:http').maxHeaderSize))
}`
const SERVE = `http.createServer(burn).listen(process.env.PORT, process.env.HOST)`
const SERVER = `${BURN}\nvar http = require('node:http')\n${SERVE}`
const MODULE = `import http from 'node:http'\nimport { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${BURN}\n${SERVE}`
const BUNDLE = SERVER.replaceAll('burn', 'a')
const map = {
  version: 3,
  sources: ['../src/app.ts'],
  sourcesContent: [BURN],
  names: [],
  mappings: 'AAAA',
}
const inline = Buffer.from(JSON.stringify(map)).toString('base64')

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "scripts": { "start": "node server.js" } }',
  'server.js': SERVER,
  'app.mts': `import type { Server } from 'node:http'\n${MODULE}`,
  'worker.js': `new (require('node:worker_threads').Worker)('./server.js')`,
  'cluster.js': `const cluster = require('node:cluster')\nif (cluster.isPrimary) cluster.fork()\nelse require('./server.js')`,
  'dist/app.js': `${BUNDLE}\n//# sourceMappingURL=app.js.map\n`,
  'dist/app.js.map': JSON.stringify(map),
  'dist/inline.js': `${BUNDLE}\n//# sourceMappingURL=data:application/json;base64,${inline}\n`,
  'node_modules/lib/index.js': SERVER,
  'package.js': `require('lib')`,
}

const STARTED: [line: string, threads: number, file: string][] = [
  ['node server.js', 1, 'server.js'],
  [`'${process.execPath}' app.mts`, 1, 'app.mts'],
  ['node worker.js', 2, 'server.js'],
  ['node cluster.js', 2, 'server.js'],
  ['npm start', 2, 'server.js'],
  ['node dist/app.js', 1, 'src/app.ts'],
  ['node dist/inline.js', 1, 'src/app.ts'],
  ['node package.js', 1, 'node_modules/lib/index.js'],
]

describe('the profiler', { skip }, () => {
  const parent = mkdtempSync(join(tmpdir(), 'startgrid profiler '))
  const directory = join(parent, 'a project')
  let guard: Guard

  before(() => {
    for (const [name, source] of Object.entries(FILES)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), source)
    }
    guard = new Guard()
  })
  after(async () => {
    await guard.close()
    rmSync(parent, { recursive: true })
  })

  async function start(context: TestContext, line: string, env: Readonly<Record<string, string>> = {}) {
    const profiler = await openProfiler(guard)
    const command = { command: line, directory, env: { ...profiler.env, ...env }, ready: { path: '/' } }
    const said: string[] = []
    const server = await startCommand(
      { ...command, readyTimeoutMs: 60_000 },
      {
        guard,
        cpus: undefined,
        signal: new AbortController().signal,
        tell: (text) => said.push(text),
        isElsewhere: () => {},
      },
    )
    context.after(() => server.stop())
    return { profiler, server }
  }

  for (const [line, threads, file] of STARTED)
    test(`${line.split('/').at(-1)}: functions have the names and files of the project`, async (t) => {
      const { profiler, server } = await start(t, line)
      equal(profiler.threads().length, threads)
      await profiler.start('cpu')
      for (let n = 0; n < 300; n++) await ask(server.target, { path: '/' }, 30_000)
      const tree = await profiler.stop('cpu')
      const burnt = tree.filter(({ name }) => name === 'burn')
      deepEqual([...new Set(burnt.map((one) => one.file))], [file])
      ok(burnt.every(({ line: at }) => at > 0))
      ok(Math.max(...burnt.map(({ count }) => count)) > 0, JSON.stringify(tree))
      const changing = tree.find(({ name, count, parent }) => {
        return name === 'setPrototypeOf' && count > 0 && tree[parent]?.name === 'burn'
      })
      equal(changing?.file, '', JSON.stringify(tree))
      ok(tree.every(({ name }) => name !== '(idle)'))
      ok(tree.every((one) => !one.file.startsWith('/') && !one.file.includes('profiler-preload')))
    })

  test('bytes have their functions, options of the person stay, and nothing is left', async (t) => {
    const own = process.env.NODE_OPTIONS
    process.env.NODE_OPTIONS = '--max-http-header-size=12345'
    const { profiler, server } = await start(t, 'node server.js').finally(() => {
      if (own === undefined) delete process.env.NODE_OPTIONS
      else process.env.NODE_OPTIONS = own
    })
    await profiler.start('heap')
    const { body } = await ask(server.target, { path: '/' }, 30_000)
    equal(body.toString(), '12345')
    for (let n = 0; n < 50; n++) await ask(server.target, { path: '/' }, 30_000)
    ok((await profiler.stop('heap')).some(({ count }) => count > 0))
    const path = profiler.env.STARTGRID_PROFILER ?? ''
    ok(existsSync(path))
    await server.stop()
    profiler.close()
    equal(existsSync(dirname(path)), false)
  })

  test('a server without our variables is not profiled, and runs', async (t) => {
    const { profiler, server } = await start(
      t,
      `env -i PORT=$PORT HOST=$HOST '${process.execPath}' server.js`,
    )
    deepEqual(profiler.threads(), [])
    equal((await ask(server.target, { path: '/' }, 30_000)).status, 200)
    profiler.close()
  })
})
