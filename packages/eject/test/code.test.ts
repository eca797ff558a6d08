import { deepEqual, doesNotMatch, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { adaptServer, leaveAssetCheck } from '../src/code/adapt.ts'
import { listImports, packageOf } from '../src/code/imports.ts'
import { leaveOut } from '../src/code/leave-out.ts'
import { prune } from '../src/code/prune.ts'
import { listSettings } from '../src/code/settings.ts'
import { dropUnusedSettings } from '../src/code/unused-settings.ts'

/** The first file is the root. */
function pruneAll(files: Record<string, string>): Record<string, string> {
  const pruned = prune(new Map(Object.entries(files)), Object.keys(files).slice(0, 1))
  return Object.fromEntries([...pruned].map(([path, text]) => [path, text.replace(/\n\n+/g, '\n').trim()]))
}

test('what nothing imports is left out: files, declarations with their comments, exports and imports', () => {
  deepEqual(
    pruneAll({
      'src/server.ts': "import { used } from '#shared/a.ts'\nused()",
      'shared/a.ts': `/** The file. */

import { helper, type Unused, unneeded } from './b.ts'
import other from './c.ts'

/** Used. */
export function used(): void { helper(inner) }

/** Used here only. */
export const inner = 1

/** Unused. */
// With a second comment.
export function unused(): Unused { return other(unneeded) }
`,
      'shared/b.ts': 'export type Unused = 1\nexport const helper = String\nexport const unneeded = 1',
      'shared/c.ts': 'export const fine = 1',
      'shared/d.ts': "import './a.ts'",
    }),
    {
      'src/server.ts': "import { used } from '#shared/a.ts'\nused()",
      'shared/a.ts': `/** The file. */
import { helper } from './b.ts'
/** Used. */
export function used(): void { helper(inner) }
/** Used here only. */
const inner = 1`,
      'shared/b.ts': 'export const helper = String',
    },
  )
})

test('what is used in any way is kept: as a type, in JSX, at load time, as a whole, under another name', () => {
  const files = {
    'src/server.tsx': `import { type Shape, Title as Heading } from './a.tsx'
import * as all from './b.ts'
import './c.ts'
const load = () => import('./d.ts')
type Later = typeof import('./e.ts')
export const shape: Shape | Later = <Heading {...all} load={load} />`,
    'src/a.tsx': 'export interface Shape { a: Inner }\nclass Inner {}\nexport const Title = () => 1',
    'src/b.ts': 'export const b = 1\nexport type { B }\ninterface B {}',
    'src/c.ts': "import { register } from './f.ts'\nregister()",
    'src/d.ts': 'export const d = 1',
    'src/e.ts': 'export const e = 1',
    'src/f.ts': 'export function register(): void\nexport function register(): void {}',
  }
  deepEqual(pruneAll(files), files)
})

test('the name of a property is no use', () => {
  const { 'a.ts': text } = pruneAll({
    'a.ts':
      "import { name, value } from './b.ts'\nexport const x = { name: y.value, z: class { name() {} } }\n",
    'b.ts': 'export const name = 1, value = 2',
  })
  equal(text, 'export const x = { name: y.value, z: class { name() {} } }')
})

test('a file that is exported as a whole is kept as a whole', () => {
  const sources = { 'a.ts': "export * from './b.ts'", 'b.ts': 'export const b = 1\nexport const c = 2' }
  deepEqual(pruneAll(sources), sources)
})

test('an import that leads nowhere is an error', () => {
  throws(() => pruneAll({ 'a.ts': "import './b.ts'" }), { message: 'b.ts is imported, but not there.' })
  throws(() => pruneAll({ 'a.ts': "import { b } from './b.ts'\nb()", 'b.ts': '' }), {
    message: "b.ts has no export 'b'.",
  })
  throws(() => pruneAll({ 'a.ts': "export { b } from './b.ts'" }), {
    message: /re-exports are not understood/,
  })
  throws(() => pruneAll({ 'a.ts': 'const' }), { name: 'SourceError' })
})

const SERVER = `import { run } from '#shared/process/lifecycle.ts'
import { beginRole } from '#shared/process/role.ts'
const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  status: async () => (await import('./status.ts')).status,
}
const { routes, ...options } = await beginRole<Router>('koa', ROLES)
await run(options, serve(routes))
`

test('the server starts one app under the name in package.json', () => {
  equal(
    adaptServer('server.ts', SERVER, 'status').replace(/\n+/g, '\n'),
    `import { begin, run } from '#shared/process/lifecycle.ts'
import manifest from '../package.json' with { type: 'json' }
const { routes, ...options } = await begin<Router>(manifest.name, async () => (await import('./status.ts')).status)
await run(options, serve(routes))
`,
  )
})

test('an edit that has lost its place is an error', () => {
  for (const [text, what] of [
    [SERVER.replace('role.ts', 'start.ts'), /server\.ts has 0 places that are the import of beginRole/],
    [
      SERVER.replace('const ROLES', 'const PARTS'),
      /has 0 places that are the object ROLES with an entry hello/,
    ],
    [
      SERVER.replace('await beginRole', 'await begin'),
      /server\.ts has 0 places that are the call of beginRole/,
    ],
    [SERVER.replace('serve(routes)', 'beginRole(1, 2)'), /has 2 places that are the call of/],
  ] as const) {
    throws(() => adaptServer('server.ts', text, 'hello'), { name: 'SourceError', message: what })
  }
})

test('the check that the assets are there is left out', () => {
  equal(leaveAssetCheck('a.ts', 'const a = 1\nrequireAssets(ASSETS, DIR)\nuse(a)\n'), 'const a = 1\nuse(a)\n')
  throws(() => leaveAssetCheck('a.ts', 'use(a)'), { message: /0 places that are the call of requireAssets/ })
})

test('a package is known by any of its modules', () => {
  const names = [
    'pino',
    'react-dom/server',
    '@koa/router',
    'node:http',
    'http',
    'bun',
    'bun:test',
    './a.ts',
    '#shared/a.ts',
  ]
  deepEqual(names.map(packageOf).filter(Boolean), ['pino', 'react-dom', '@koa/router'])
  match(String(packageOf('@fastify/static/lib/x.js')), /^@fastify\/static$/)
})

const CONFIG = `export interface Config {
  /** One. */
  one: string
  /** Two. */
  two: string
}
export function readConfig(env: Env): Config {
  return { one: env.ONE ?? '', two: readTwo(env, 'TWO') }
}
`

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
  deepEqual(
    listImports('a.ts', text).map(({ from }) => from),
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
  )
})

test('settings that nobody asks for are left out', () => {
  const sources = new Map([
    ['shared/process/config.ts', CONFIG],
    ['src/a.ts', 'const { two } = config'],
  ])
  const text = dropUnusedSettings(sources).get('shared/process/config.ts') ?? ''
  doesNotMatch(text, /one/i)
  match(text, /\/\*\* Two\. \*\/\s+two: string\s+\}[\s\S]+\{two: readTwo\(env, 'TWO'\)\}/)
})

test('a setting without a meaning is an error', () => {
  deepEqual(
    listSettings(new Map([['shared/process/config.ts', "read(env, 'PORT', 1) + env.HOST"]])).map(
      ({ name }) => name,
    ),
    ['HOST', 'PORT'],
  )
  throws(() => listSettings(new Map([['shared/process/config.ts', CONFIG]])), {
    message: /^shared\/process\/config\.ts reads (ONE|TWO), of which settings\.ts says nothing/,
  })
})

test('conditions that ask for a cluster or a unix socket are resolved, also inside each other', () => {
  equal(
    leaveOut(
      'a.ts',
      `if (cluster.isWorker) leave()
else stay()
const x = cluster.worker === undefined ? 1 : 2
const { port, socket } = config
// Only with a socket.
if (socket !== undefined && other) leave()
open(socket === undefined ? { port, reusePort, cure: socket ? 'path' : 'port' } : { path: socket })
`,
    ),
    `stay()
const x = 1
const { port } = config
open({ port, cure: 'port' })
`,
  )
  throws(() => leaveOut('a.ts', 'stay()'), { message: 'a.ts does not ask for a cluster or a unix socket.' })
})
