import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { adaptServer, leaveShedding } from '../src/code/adapt.ts'
import { follow, listImports, packageOf } from '../src/code/imports.ts'
import { listSettings } from '../src/code/settings.ts'

test('a project has the files that its roots import, and no others', () => {
  const files = new Map([
    ['src/server.ts', "import { a } from '#shared/a.ts'\nimport 'pino'"],
    ['shared/a.ts', "import './b.tsx'\nconst load = () => import('./c.ts')"],
    ['shared/b.tsx', "import type { D } from './d.ts'\nimport './b.css'"],
    ['shared/c.ts', "export * from './a.ts'"],
    ['shared/d.ts', "type E = typeof import('./e.ts')"],
    ['shared/e.ts', ''],
    ['shared/f.ts', "import './a.ts'"],
  ])
  deepEqual([...follow(files, ['src/server.ts']).keys()].sort(), [
    'shared/a.ts',
    'shared/b.tsx',
    'shared/c.ts',
    'shared/d.ts',
    'shared/e.ts',
    'src/server.ts',
  ])
  throws(() => follow(new Map([['a.ts', "import './b.ts'"]]), ['a.ts']), {
    message: 'a.ts needs b.ts, which is not there.',
  })
  throws(() => follow(new Map([['a.ts', 'const']]), ['a.ts']), { message: /^a\.ts: / })
})

const SERVER = `import { begin, run } from '#shared/launch/lifecycle.ts'
import { createApp } from './app.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<Router>('koa', ROLES)
await run(options, serve(routes))
`

test('the server starts one app, alone, under the name in package.json', () => {
  equal(
    adaptServer(SERVER, 'status'),
    `import manifest from '../package.json' with { type: 'json' }
import { begin, run } from '#shared/process/lifecycle.ts'
import { createApp } from './app.ts'

const { routes, ...options } = await begin<Router>(manifest.name, async () => (await import('./status.ts')).status)
await run(options, serve(routes))
`,
  )
  for (const text of [SERVER + SERVER, SERVER.replace("'koa', ROLES", 'name, ROLES')])
    throws(() => adaptServer(text, 'status'), { message: / times, not once, in:/ })
  throws(() => adaptServer(SERVER, 'ssr'), { message: /no role ssr/ })
})

test('without a page nothing is refused because of overload', () => {
  equal(leaveShedding('a()\n  app.locals.shouldShed = createLoadShedder(1)\nb()\n'), 'a()\nb()\n')
  const config = '  /** A. */\n  port: number\n  /** B. */\n  maxQueueWaitMs: number\n}\n'
  equal(leaveShedding(config), '  /** A. */\n  port: number\n}\n')
})

test('a package is known by any of its modules', () => {
  const names = [
    'pino',
    'react-dom/server',
    '@koa/router',
    'node:http',
    'http',
    'bun:test',
    './a.ts',
    '#shared/a.ts',
  ]
  deepEqual(names.map(packageOf).filter(Boolean), ['pino', 'react-dom', '@koa/router'])
  equal(packageOf('@fastify/static/lib/x.js'), '@fastify/static')
})

test('every kind of import is found: a package that is only re-exported, too', () => {
  const text = `import 'a'
import b, { type B } from 'b'
import type { C } from 'c'
export { d } from 'd'
export * from 'e'
const f = await import('f')
type G = import('g').G
export const none = 'not-a-package'
`
  deepEqual(listImports('a.ts', text), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('the README lists each setting that is read', () => {
  const list = (config: string, ...others: string[]) =>
    listSettings(
      new Map([['shared/process/config.ts', config], ...others.map((path) => [path, ''] as const)]),
    )
  const names = (settings: readonly { name: string }[]) => settings.map(({ name }) => name)
  const config = "readInteger(env, 'MAX_QUEUE_WAIT_MS', 250)\nreadInteger(env, 'PORT', 3000)\nenv.HOST"
  deepEqual(names(list(config)), ['HOST', 'PORT', 'MAX_QUEUE_WAIT_MS'])
  deepEqual(names(list(leaveShedding(config))), ['HOST', 'PORT'])
  throws(() => list('env.COLOUR'), { message: /reads COLOUR, of which settings\.ts says nothing/ })
})
