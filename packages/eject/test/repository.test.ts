import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseRemote } from '../src/workspace.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

const LIMIT = { timeout: 180_000 }

/** Without the configuration of this machine and its person. */
function strangerTo(home: string): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
}

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

test('all files but .env are in the first commit, also where git knows nobody', LIMIT, async () => {
  using directory = temporaryDirectory()
  const { code, stdout, stderr } = await runEject(['hono/status', 'app', '--no-lockfile'], {
    cwd: directory.path,
    env: strangerTo(directory.path),
  })
  deepEqual([code, stderr], [0, ''])
  match(stdout, /--reset-author/)
  const app = join(directory.path, 'app')
  equal(git(app, 'status', '--short', '--ignored'), '!! .env')
  match(git(app, 'log', '--format=%s %ae'), /^First commit \S+@localhost$/)
  equal(git(app, 'branch', '--show-current'), 'main')
  deepEqual(
    stdout.split('\n').filter((line) => line.length > 80),
    [],
  )
})

test('the commit is by whom git knows, whatever repository called us', LIMIT, async () => {
  using directory = temporaryDirectory()
  const env = {
    ...strangerTo(directory.path),
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'user.name',
    GIT_CONFIG_VALUE_0: 'Ada',
    GIT_CONFIG_KEY_1: 'user.email',
    GIT_CONFIG_VALUE_1: 'ada@example.org',
  }
  mkdirSync(join(directory.path, 'other'))
  git(directory.path, 'init', '--quiet', 'other')
  const { stdout } = await runEject(['hono/status', join(directory.path, 'app'), '--no-lockfile'], {
    env: { ...env, GIT_INDEX_FILE: join(directory.path, 'other/.git/index') },
  })
  doesNotMatch(stdout, /--reset-author/)
  const app = join(directory.path, 'app')
  equal(git(app, 'log', '--format=%an <%ae>'), 'Ada <ada@example.org>')
  ok(git(app, 'ls-files').includes('src/server.ts'))
})

test('--no-git makes no repository; an empty directory is filled', LIMIT, async () => {
  using directory = temporaryDirectory()
  const app = join(directory.path, 'app')
  mkdirSync(app)
  const { code, stdout } = await runEject([
    'hono/status',
    app,
    '--no-git',
    '--no-lockfile',
    '--name',
    '@acme/well',
  ])
  equal(code, 0)
  match(stdout, /^ {2}npm install && npm run dev +# needs Node 24\.9 or newer$/m)
  equal(existsSync(join(app, '.git')), false)
  equal(JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')).name, '@acme/well')
  match(readFileSync(join(app, 'src/server.ts'), 'utf8'), /begin<Hono>\(\s*manifest\.name/)
})

test('the address of this repository is a link without credentials', () => {
  const repository = 'https://example.org/ada/grid'
  for (const url of [
    `${repository}\n`,
    'https://ada:key@example.org/ada/grid.git',
    'git@example.org:ada/grid.git',
  ])
    deepEqual(parseRemote(url), { repository })
  for (const url of ['', '/home/ada/grid', 'file:///home/ada/grid']) deepEqual(parseRemote(url), {})
})
