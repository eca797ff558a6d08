import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { ask, Cancelled } from '../src/ask.ts'
import { APPS } from '../src/choices.ts'
import { runCommand } from '../src/command.ts'
import { ROOT, readSource } from '../src/source.ts'
import { CLI, temporaryDirectory } from './support.ts'

const DOWN = '\u001b[B'
const RETURN = '\r'

/** Types keys, one each time a question waits. */
async function askWith(keys: readonly string[], known: Parameters<typeof ask>[0] = {}) {
  let written = ''
  const input = new PassThrough()
  const output = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const asked = ask(known, { title: 'npm create', defaultPath: 'my-app', input, output })
  const typed = (async () => {
    for (const key of keys) {
      const before = written
      input.write(key)
      for (let turn = 0; turn < 10_000 && written === before; turn++) await nextTurn()
    }
  })()
  const chosen = await asked
  await typed
  return { chosen, text: stripVTControlCharacters(written) }
}

test('asks for framework, role, options and directory', async () => {
  const { chosen, text } = await askWith([DOWN, RETURN, DOWN, RETURN, ' ', RETURN, RETURN])
  const { app, ...others } = chosen
  deepEqual([app.name, others], ['fastify/ssr', { options: ['telemetry'], path: 'my-app' }])
  match(text, /Framework[\s\S]*Fastify[\s\S]*njs/)
  match(text, /ssr \(a React page/)
})

test('asks only for what is missing, and does not offer what the app cannot have', async () => {
  const app = APPS.find(({ name }) => name === 'bun/hello')
  const { chosen, text } = await askWith([DOWN, ' ', RETURN, RETURN], { app })
  deepEqual(chosen, { app, options: ['kubernetes'], path: 'my-app' })
  match(text, /NGINX in front/)
  deepEqual(text.match(/OpenTelemetry|Framework/g), null)
})

test('Escape leaves it', async () => {
  await rejects(askWith(['\u0003']), Cancelled)
})

/** What it refuses. */
const REFUSED = [
  [[], 2, /^pnpm eject <framework>\/<role> <directory>[\s\S]* njs\/status\n/],
  [['fastify/ssr', 'a', '--template'], 2, /^Unknown option '--template'/],
  [['fastify/ssr', 'a', '--no-git'], 2, /^pnpm eject --no-git is gone: /],
  [['nest/hello', 'a'], 1, /^There is no app 'nest\/hello'\. These are:[\s\S]* njs\/hello /],
  [['fastify', 'a'], 1, /^'fastify' is 3 apps\. Name one of them:\n\n {2}fastify\/hello {3}fastify\/ssr {5}/],
  [['express/ssr', '/dev/null/app'], 1, /^ENOTDIR: not a directory, .*app/],
  [['express/ssr', 'My App'], 1, /^'My App' cannot be the name of a package: name can only.*--name\.$/m],
  [['express/ssr', 'react'], 1, /^'react' is a package that the project needs: /],
  [['express/ssr', 'a', '--with', 'tea'], 1, /^There is no option 'tea'\. The options are: telemetry, /],
  [['bun/hello', 'a', '--with', 'telemetry'], 1, /^bun\/hello cannot have telemetry\. .*an app on Node/],
] as const

for (const [args, code, sentence] of REFUSED) {
  test(`pnpm eject ${args.join(' ')}: refused, and nothing is left`, async (t) => {
    using directory = temporaryDirectory()
    const refusal = await eject(t, args, directory.path)
    equal(refusal.code, code)
    match(refusal.stderr, sentence)
    deepEqual(readdirSync(directory.path), [])
  })
}

/** Runs the command in this process, as if it was typed in `cwd` and not on a terminal. */
async function eject(t: TestContext, args: readonly string[], cwd: string) {
  const { env } = process
  process.env = { ...env, INIT_CWD: cwd, CI: 'true' }
  const write = t.mock.method(process.stderr, 'write', () => true)
  const origin = { command: 'pnpm eject', example: '', defaultPath: '../my-app', outsideOf: ROOT, readSource }
  const code = await runCommand(args, origin)
  write.mock.restore()
  process.env = env
  return { code, stderr: write.mock.calls.map(({ arguments: [text] }) => text).join('') }
}

test('in a dumb terminal it asks nothing, and says what to type', {
  skip: process.platform !== 'linux' && 'script has other options here',
}, async () => {
  const words = ['--quiet', '--return', '--command', `'${process.execPath}' '${CLI}'`, '/dev/null']
  const env = { ...process.env, TERM: 'dumb', CI: undefined }
  const { code, stdout } = await startProgram('script', words, { env }).ended
  match(stdout, /^pnpm eject <framework>\/<role> <directory>/)
  equal(code, 2)
})

test('what is there is left as it is', async (t) => {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'app')
  mkdirSync(target)
  const notes = join(target, 'notes.txt')
  writeFileSync(notes, 'mine')
  for (const [path, sentence] of [
    [target, `${target} is not empty (it has notes.txt): choose another directory, or empty it.\n`],
    [notes, `${notes} is a file: choose another name.\n`],
  ] as const) {
    const { code, stderr } = await eject(t, ['koa/hello', path], directory.path)
    deepEqual([code, stderr], [1, sentence])
    deepEqual(readdirSync(directory.path, { recursive: true }), ['app', 'app/notes.txt'])
  }
})

test('nothing is written into the workspace, whichever way it is named', async (t) => {
  for (const [cwd, path] of [
    [ROOT, 'apps/mine'],
    [join(ROOT, 'apps'), '../mine'],
    [ROOT, '.'],
  ] as const) {
    const { code, stderr } = await eject(t, ['koa/hello', path], cwd)
    deepEqual([code, stderr], [1, `${path} is inside this repository: choose a directory outside of it.\n`])
  }
})
