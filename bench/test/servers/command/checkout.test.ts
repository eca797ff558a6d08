import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Guard } from '@startgrid/machine/guard.ts'
import { checkOut, whatDiffers, withFilesOf } from '../../../src/servers/command/checkout.ts'

const NO_CHECKOUT = {
  ...{ directory: '', start: undefined, env: {}, manager: 'npm', commit: '' },
  unlocked: new Map<string, string>(),
}

const LOCK = { name: 'app', lockfileVersion: 3, packages: { '': { name: 'app' } } }

describe('a commit in a directory of its own', () => {
  let place = ''
  let repository = ''
  const git = (directory: string, ...args: string[]) =>
    execFileSync('git', ['-C', directory, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.org',
      },
    })
  const write = (path: string, content: unknown) =>
    writeFileSync(
      join(repository, path),
      typeof content === 'string' ? content : `${JSON.stringify(content)}\n`,
    )

  before(() => {
    place = mkdtempSync(join(tmpdir(), 'startgrid-checkout-'))
    repository = join(place, 'app')
    mkdirSync(repository)
    git(repository, 'init', '--quiet', '--initial-branch=main')
    mkdirSync(join(repository, 'server'))
    const scripts = {
      build: 'echo built > built.txt',
      start: 'node server.js',
      install: 'mkdir -p node_modules && echo in > node_modules/in.txt',
    }
    write('server/package.json', { name: 'app', scripts })
    write('server/package-lock.json', { ...LOCK, packages: { '': { name: 'app', hasInstallScript: true } } })
    write('server/server.js', 'committed')
    write('.gitignore', 'node_modules\n.env\nbuilt.txt\n')
    git(repository, 'add', '.')
    git(repository, 'commit', '--quiet', '-m', 'app')
    write('server/.env', 'SECRET=1')
    write('server/server.js', 'changed')
    write('server/new.js', 'new')
  })
  after(() => rmSync(place, { recursive: true }))

  /** What is found there, and then removed. */
  const see = async <Value>(
    refs: (string | undefined)[],
    look: (directories: Awaited<ReturnType<typeof checkOut>>[], said: string[]) => Value,
    from = join(repository, 'server'),
    build?: string,
  ): Promise<Value> => {
    const guard = new Guard()
    const said: string[] = []
    const options = {
      guard,
      ...{ from, build },
      signal: new AbortController().signal,
      say: (text: string) => said.push(text),
    }
    try {
      const found: Awaited<ReturnType<typeof checkOut>>[] = []
      for (const ref of refs) found.push(await checkOut(ref, options))
      return look(found, said)
    } finally {
      await guard.close()
    }
  }
  const isWhole = () => {
    assert.equal(git(repository, 'worktree', 'list').trim().split('\n').length, 1)
    assert.equal(
      git(repository, 'status', '--porcelain', '--', 'server').trim(),
      'M server/server.js\n?? server/new.js',
    )
  }

  test('a ref, and the working tree with what is not committed: installed, built, and nothing is left', async () => {
    const objects = git(repository, 'count-objects')
    const directories = await see(['main', undefined], (found, said) => {
      const read = (index: number, path: string) =>
        readFileSync(join(found[index]?.directory ?? '', path), 'utf8')
      assert.deepEqual(
        [read(0, 'server.js'), read(1, 'server.js'), read(1, 'new.js')],
        ['committed', 'changed', 'new'],
      )
      assert.ok(!existsSync(join(found[0]?.directory ?? '', 'new.js')))
      for (const index of [0, 1]) {
        assert.deepEqual(
          [read(index, 'built.txt').trim(), read(index, 'node_modules/in.txt').trim()],
          ['built', 'in'],
        )
        assert.ok(!existsSync(join(found[index]?.directory ?? '', '.env')), 'never copied')
      }
      assert.deepEqual(
        found.map(({ start }) => start),
        ['node server.js', 'node server.js'],
      )
      assert.match(found[1]?.commit ?? '', /^\w{10} with changes$/)
      assert.deepEqual(
        said,
        ['main', 'the working tree'].flatMap((name) => [
          `${name}: installing with npm.`,
          `${name}: building.`,
        ]),
      )
      return found.map(({ directory }) => directory)
    })
    for (const directory of directories) assert.ok(!existsSync(directory))
    assert.equal(git(repository, 'count-objects'), objects)
    isWhole()
  })

  test('what cannot be checked out is one sentence', async () => {
    const nothing = () => assert.fail('nothing is to be seen')
    await assert.rejects(see(['no-such-ref'], nothing), {
      message: /^There is no commit 'no-such-ref' in this repository/,
    })
    await assert.rejects(see(['--all'], nothing), { message: /^There is no commit '--all'/ })
    await assert.rejects(see(['main'], nothing, place), {
      message: /is not in a git repository: --git needs one\.$/,
    })
    isWhole()
  })

  test('a lockfile that does not install', async () => {
    const nothing = () => assert.fail('nothing is to be seen')
    write('server/package.json', { name: 'app', dependencies: { 'no-such-package-of-startgrid': '1.0.0' } })
    await assert.rejects(see([undefined], nothing), {
      message: /^The packages of the working tree do not install: npm ci/,
    })
    git(repository, 'checkout', '--', 'server/package.json', 'server/package-lock.json')
    isWhole()
  })

  test('a lockfile of yarn 4 is not left to a yarn of version 1', async () => {
    const { PATH: path } = process.env
    const tools = join(place, 'tools')
    mkdirSync(tools)
    const tool = (name: string, script: string) =>
      writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const done = (name: string) =>
      `[ "$1" = --version ] && echo 1 || echo "${name} $*" >> ${join(place, 'done')}`
    try {
      process.env.PATH = `${tools}:${path}`
      for (const [directory, lock] of [
        ['later', '__metadata:\n  version: 8\n'],
        ['first', '# yarn lockfile v1\n'],
      ] as const) {
        mkdirSync(join(repository, directory))
        write(`${directory}/yarn.lock`, lock)
        write(`${directory}/package.json`, { name: directory, scripts: { prestart: 'x', start: 'y' } })
      }
      for (const name of ['npx', 'yarn']) tool(name, done(name))
      const startOf = (directory: string) =>
        see([undefined], ([found]) => found?.start, join(repository, directory))
      const through = 'npx --yes --package=@yarnpkg/cli-dist@4 yarn'
      assert.deepEqual([await startOf('later'), await startOf('first')], [`${through} start`, 'yarn start'])
      assert.deepEqual(readFileSync(join(place, 'done'), 'utf8').trim().split('\n'), [
        `${through} install --frozen-lockfile`,
        'yarn install --frozen-lockfile',
      ])
    } finally {
      process.env.PATH = path
      for (const directory of ['later', 'first']) rmSync(join(repository, directory), { recursive: true })
    }
    isWhole()
  })

  test('without a lockfile, what differs between both sides is told', () => {
    const sideWith = (version: string) => ({
      ...NO_CHECKOUT,
      unlocked: new Map([
        ['local', version],
        ['same', '1.0.0'],
      ]),
    })
    assert.equal(
      whatDiffers(['V1', 'V2'], ['1.0.0', '2.0.0'].map(sideWith)),
      'Without a lockfile, what the registry has today was installed: V1 and V2 have other versions of 1 package: local (1.0.0, 2.0.0).',
    )
  })

  test('without a lockfile what is there is installed; --build is run in the root of the workspace, instead of the script', async () => {
    mkdirSync(join(repository, 'server/local'))
    write('server/local/package.json', { name: 'local', version: '2.0.0' })
    write('server/package.json', { name: 'app', dependencies: { local: 'file:./local' } })
    write('package.json', { workspaces: ['server'] })
    rmSync(join(repository, 'server/package-lock.json'))
    try {
      const [built, unlocked] = await see(
        [undefined],
        ([found]) => [
          readFileSync(join(found?.directory ?? '', '../made.txt'), 'utf8'),
          found?.unlocked.get('local'),
        ],
        join(repository, 'server'),
        'pwd > made.txt',
      )
      assert.match(built ?? '', /\/working-tree\n$/)
      assert.equal(unlocked, '2.0.0')
    } finally {
      for (const path of ['package.json', 'server/local']) rmSync(join(repository, path), { recursive: true })
      git(repository, 'checkout', '--', 'server/package.json', 'server/package-lock.json')
    }
    isWhole()
  })

  test('a command may name a file that only the person has', () => {
    const [from, one, other] = ['from', 'sides/one', 'sides/other'].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ]
    for (const directory of [from, one, other]) mkdirSync(directory, { recursive: true })
    const files = [join(place, 'bench.mjs'), join(from, 'new.js'), join(other, 'new.js')]
    for (const file of files.concat([from, one, other].map((at) => join(at, 'server.js'))))
      writeFileSync(file, '')
    const sides = [one, other].map((directory) => ({ ...NO_CHECKOUT, directory }))
    const lines = ['A=1 node ../bench.mjs', 'node new.js', 'node ./server.js none.js']
    assert.deepEqual(
      lines.map((line) => withFilesOf(line, from, sides)),
      // What is on one side only is the person's on both.
      [`A=1 node ${place}/bench.mjs`, `node ${from}/new.js`, 'node ./server.js none.js'],
    )
  })

  test('without git, one sentence', async () => {
    const { PATH: path } = process.env
    try {
      process.env.PATH = join(place, 'nowhere')
      await assert.rejects(
        see(['main'], () => {}),
        { message: 'git cannot be started: --git needs it.' },
      )
    } finally {
      process.env.PATH = path
    }
  })
})
