import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../src/source.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

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
  [
    'a framework alone',
    ['fastify', 'a'],
    1,
    /^'fastify' is 3 apps\. Name one of them:\n\n {2}fastify\/hello {3}fastify\/ssr {5}fastify\/status\n/,
  ],
  [
    'a role alone',
    ['ssr', 'a'],
    1,
    /^'ssr' is \d+ apps\. Name one of them:\n\n {2}node\/ssr\n {2}fastify\/ssr\n/,
  ],
  ['a place below a file', ['express/ssr', '/dev/null/app'], 1, /^ENOTDIR: not a directory, .*app/],
  [
    'a bad name',
    ['fastify/ssr', 'a', '--name', 'My App'],
    1,
    /^'My App' cannot be the name of a package: name can only.*--name\.$/m,
  ],
  [
    'a directory that makes a bad name',
    ['fastify/ssr', 'My App'],
    1,
    /^'My App' cannot be the name of a package: /,
  ],
  [
    'the name of a module of Node',
    ['fastify/ssr', 'a', '--name', 'http'],
    1,
    /^'http' cannot be the name of a package/,
  ],
  [
    'an option that never was',
    ['express/hello', 'a', '--with', 'tea'],
    1,
    /^There is no option 'tea'\. The options are: telemetry, nginx, kubernetes\.$/m,
  ],
  [
    'an option that is gone',
    ['express/hello', 'a', '--with', 'metrics'],
    1,
    /^--with metrics is gone: choose --with telemetry/,
  ],
  ['a flag that is gone', ['express/hello', 'a', '--no-git'], 2, /^pnpm eject --no-git is gone: /],
  [
    'telemetry on Bun',
    ['bun/hello', 'a', '--with', 'telemetry'],
    1,
    /^bun\/hello cannot have telemetry\. .*choose an app on Node\.$/m,
  ],
  [
    'NGINX in front of NGINX',
    ['njs/hello', 'a', '--with', 'nginx'],
    1,
    /^njs\/hello cannot have nginx\. It runs inside NGINX already/,
  ],
  ['the name of a dependency', ['express/ssr', 'react'], 1, /^'react' is a package that the project needs: /],
] as const

for (const [what, args, code, sentence] of REFUSED) {
  test(`${what}: refused, and nothing is left`, async () => {
    using directory = temporaryDirectory()
    const { stdout, stderr, ...ended } = await runEject(args, { cwd: directory.path })
    deepEqual(ended, { code, signal: null })
    equal(stdout, '')
    match(stderr, sentence)
    deepEqual(readdirSync(directory.path), [])
  })
}

test('a directory that is not empty is left as it is', async () => {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'app')
  mkdirSync(target)
  writeFileSync(join(target, 'notes.txt'), 'mine')
  const { code, stderr } = await runEject(['koa/hello', target])
  equal(code, 1)
  equal(stderr, `${target} is not empty (it has notes.txt): choose another directory, or empty it.\n`)
  deepEqual(readdirSync(directory.path, { recursive: true }), ['app', 'app/notes.txt'])
})

test('a file is not overwritten', async () => {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'app')
  writeFileSync(target, 'mine')
  const { code, stderr } = await runEject(['koa/hello', target])
  equal(code, 1)
  equal(stderr, `${target} is a file: choose another name.\n`)
})

test('nothing is written into the workspace, whichever way it is named', async () => {
  for (const [cwd, path] of [
    [ROOT, 'apps/mine'],
    [join(ROOT, 'apps'), '../mine'],
    [ROOT, '.'],
  ] as const) {
    const { code, stderr } = await runEject(['koa/hello', path], { cwd })
    equal(code, 1)
    equal(stderr, `${path} is inside this repository: choose a directory outside of it.\n`)
  }
})
