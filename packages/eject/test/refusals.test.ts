import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { WORKSPACE } from '../src/workspace.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

const LIMIT = { timeout: 180_000 }

const REFUSED = [
  ['no arguments', [], 2, /^pnpm eject <framework>\/<role> <directory>[\s\S]* njs\/status\n/],
  ['no directory', ['fastify/ssr'], 2, /^pnpm eject <framework>/],
  ['one word too many', ['fastify/ssr', 'a', 'b'], 2, /^pnpm eject <framework>/],
  ['an unknown option', ['fastify/ssr', 'a', '--template'], 2, /^Unknown option '--template'/],
  [
    'an unknown app',
    ['nest/hello', 'a'],
    1,
    /^There is no app 'nest\/hello'\. These are:[\s\S]* njs\/hello /,
  ],
  ['a role outside the grid', ['fastify/pool', 'a'], 1, /^There is no app 'fastify\/pool'\. These are:\n/],
  ['a package outside the grid', ['fastify-express/status', 'a'], 1, /^There is no app 'fastify-express/],
  [
    'a framework alone',
    ['fastify', 'a'],
    1,
    /^'fastify' is 3 apps\. Name one of them:\n\n {2}fastify\/hello {2}fastify\/ssr {2}fastify\/status\n/,
  ],
  [
    'a role alone',
    ['ssr', 'a'],
    1,
    /^'ssr' is \d+ apps\. Name one of them:\n\n {2}node\/ssr\n {2}fastify\/ssr\n/,
  ],
  [
    'a parent that is not there',
    ['fastify/ssr', 'no/app'],
    1,
    /^The directory .*no does not exist: make it first/,
  ],
  ['a place below a file', ['fastify/ssr', '/dev/null/app'], 1, /^ENOTDIR: not a directory, .*app'$/m],
  [
    'a bad name',
    ['fastify/ssr', 'a', '--name', 'My App'],
    1,
    /^'My App' cannot be the name of a package\. .*--name:\n {2}name can only/,
  ],
  [
    'a directory that makes a bad name',
    ['fastify/ssr', 'My App'],
    1,
    /^'My App' cannot be the name of a package\. /,
  ],
  [
    'the name of a module of Node',
    ['fastify/ssr', 'a', '--name', 'http'],
    1,
    /^'http' cannot be the name of a package/,
  ],
  ['the name of a dependency', ['fastify/ssr', 'react'], 1, /^'react' is a package that the project needs: /],
] as const

for (const [what, args, code, sentence] of REFUSED) {
  test(`${what}: refused, and nothing is left`, LIMIT, async () => {
    using directory = temporaryDirectory()
    const { stdout, stderr, ...ended } = await runEject(args, { cwd: directory.path })
    deepEqual(ended, { code, signal: null })
    equal(stdout, '')
    match(stderr, sentence)
    deepEqual(
      stderr.split('\n').filter((line) => line.length > 80 && !line.includes(directory.path)),
      [],
    )
    deepEqual(readdirSync(directory.path), [])
  })
}

test('a directory that is not empty is left as it is', LIMIT, async () => {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'app')
  mkdirSync(target)
  writeFileSync(join(target, 'notes.txt'), 'mine')
  const { code, stderr } = await runEject(['koa/hello', target])
  equal(code, 1)
  equal(stderr, `${target} is not empty (it has notes.txt): choose another directory, or empty it.\n`)
  deepEqual(readdirSync(directory.path, { recursive: true }), ['app', 'app/notes.txt'])
})

test('a file is not overwritten', LIMIT, async () => {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'app')
  writeFileSync(target, 'mine')
  const { code, stderr } = await runEject(['koa/hello', target])
  equal(code, 1)
  equal(stderr, `${target} is a file: choose another name.\n`)
})

test('nothing is written into the workspace, whichever way it is named', LIMIT, async () => {
  using directory = temporaryDirectory()
  symlinkSync(WORKSPACE, join(directory.path, 'link'))
  const ways = [
    [WORKSPACE, 'apps/mine'],
    [join(WORKSPACE, 'apps'), '../mine'],
    [directory.path, 'link/apps/mine'],
    [WORKSPACE, '.'],
  ] as const
  for (const [cwd, path] of ways) {
    const { code, stderr } = await runEject(['koa/hello', path], { cwd })
    equal(code, 1)
    equal(stderr, `${path} is inside this repository: choose a directory outside of it.\n`)
  }
})
