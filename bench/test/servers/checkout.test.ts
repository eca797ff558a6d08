import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newDirectory } from '@startgrid/cli/test-programs.ts'
import { Guard, MARK } from '@startgrid/machine/guard.ts'
import { findProcesses } from '@startgrid/machine/processes.ts'
import {
  type Checkout,
  type CheckoutOptions,
  checkOut,
  readBranch,
  readHistory,
  whatDiffers,
  withFilesOf,
} from '../../src/servers/command/checkout.ts'

const NO_CHECKOUT: Checkout = {
  directory: '',
  start: undefined,
  env: {},
  manager: 'npm',
  commit: '',
  unlocked: new Map(),
}

const LOCK = { lockfileVersion: 3, packages: { '': { name: 'app', hasInstallScript: true } } }
const SCRIPTS = {
  build: 'echo built > built.txt',
  start: 'node server.js',
  // As husky does; in the person's repository it would change theirs.
  install:
    'mkdir -p node_modules .git/hooks ../.git/hooks && echo in > node_modules/in.txt && git config x.y z',
}

describe('a commit in a directory of its own', () => {
  const place = newDirectory({ after })
  const repository = join(place, 'app')
  const env = { ...process.env } // some tests change it
  const settings = '-c core.hooksPath=/dev/null -c user.name=a -c user.email=a@b'.split(' ')
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repository, ...settings, ...args], { encoding: 'utf8', env })
  const write = (files: Readonly<Record<string, unknown>>) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(repository, path)), { recursive: true })
      writeFileSync(join(repository, path), typeof content === 'string' ? content : JSON.stringify(content))
    }
  }

  before(() => {
    write({
      'server/package.json': { name: 'app', version: '1.2.3', scripts: SCRIPTS },
      'server/package-lock.json': LOCK,
      'server/server.js': 'committed',
      '.gitignore': 'node_modules\n.env\nbuilt.txt\n',
    })
    git('init', '--quiet', '--initial-branch=main')
    git('add', '.')
    git('commit', '--quiet', '-m', 'app')
    writeFileSync(join(repository, '.git/hooks/post-checkout'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    write({ 'server/.env': 'SECRET=1', 'server/server.js': 'changed', 'server/new.js': 'new' })
  })

  interface Asked extends Partial<Pick<CheckoutOptions, 'from' | 'install' | 'build' | 'kept'>> {
    refs?: (string | undefined)[]
    /** When this is said. */
    abortAt?: string
  }

  /** What is found there, and then removed; the repository stays as it is. */
  const see = async <Value>(
    { refs = [undefined], from = 'server', abortAt, ...asked }: Asked,
    look: (found: Checkout[], said: string[]) => Value,
  ): Promise<Value> => {
    const guard = new Guard()
    const said: string[] = []
    const abortion = new AbortController()
    const say = (text: string) => {
      said.push(text)
      if (text === abortAt) setImmediate(() => abortion.abort())
    }
    const { signal } = abortion
    const own = { install: undefined, build: undefined, ...asked, from: join(repository, from) }
    const status = git('status', '--porcelain')
    try {
      const found: Checkout[] = []
      for (const ref of refs) found.push(await checkOut(ref, { ...own, guard, signal, say }))
      return look(found, said)
    } finally {
      const left = findProcesses({ groups: [], mark: `${MARK}=${guard.run}.` })
      await guard.close()
      assert.deepEqual(left, [])
      assert.equal(git('worktree', 'list').trim().split('\n').length, 1)
      assert.equal(git('status', '--porcelain'), status)
    }
  }

  /** With other files, and a PATH of its own if there is one. */
  const among = async <Value>(
    files: Readonly<Record<string, unknown>>,
    use: () => Promise<Value>,
    path?: string,
  ): Promise<Value> => {
    const { PATH: usual } = process.env
    write(files)
    if (path !== undefined) process.env.PATH = path
    try {
      return await use()
    } finally {
      Object.assign(process.env, { PATH: usual })
      for (const file of Object.keys(files)) rmSync(join(repository, file), { force: true })
      git('checkout', '--', 'server/package.json', 'server/package-lock.json')
    }
  }

  test('a ref, and the working tree with what is not committed: installed, built, and nothing is left', async () => {
    const objects = git('count-objects')
    const directories = await see({ refs: ['main', undefined] }, (found, said) => {
      const read = (index: number, path: string) =>
        readFileSync(join(found[index]?.directory ?? '', path), 'utf8').trim()
      const files = [read(0, 'server.js'), read(1, 'server.js'), read(1, 'new.js')]
      assert.deepEqual(files, ['committed', 'changed', 'new'])
      assert.ok(!existsSync(join(found[0]?.directory ?? '', 'new.js')))
      for (const [index, { directory, start, env }] of found.entries()) {
        assert.deepEqual([read(index, 'built.txt'), read(index, 'node_modules/in.txt')], ['built', 'in'])
        assert.ok(!existsSync(join(directory, '.env')), 'never copied')
        assert.equal(start, 'node server.js')
        const npm = { name: 'app', version: '1.2.3' }
        for (const [name, value] of Object.entries(npm)) assert.equal(env[`npm_package_${name}`], value)
        assert.deepEqual([env.npm_lifecycle_event, env.INIT_CWD], ['start', directory])
      }
      assert.match(found[1]?.commit ?? '', /^\w{10} with changes$/)
      assert.match(
        said.join(' '),
        /^main: installing with npm \d[\d.]+\. main: building\. the working tree: /,
      )
      const [one, other] = found.map(({ directory }) => directory)
      assert.equal(one?.length, other?.length, 'a longer path is a larger environment, which moves the stack')
      return [one, other].flatMap((directory) => directory ?? [])
    })
    for (const directory of directories) assert.ok(!existsSync(directory))
    assert.equal(git('count-objects'), objects)
  })

  const nothing = () => assert.fail('nothing is to be seen')

  test('what cannot be checked out is one sentence', async () => {
    const asked: [asked: Asked, message: RegExp][] = [
      [{ refs: ['no-such-ref'] }, /^There is no commit 'no-such-ref' in this repository/],
      [{ refs: ['--all'] }, /^There is no commit '--all'/],
      [{ from: '..' }, /is not in a git repository: --git needs one\.$/],
    ]
    for (const [one, message] of asked) await assert.rejects(see(one, nothing), { message })
    const message = 'git cannot be started: --git needs it.'
    await among({}, () => assert.rejects(see({}, nothing), { message }), join(place, 'nowhere'))
  })

  test('what does not install is one sentence, and what the installer started is ended', () => {
    const scripts = { preinstall: 'setsid sleep 600 & exit 3' }
    return among({ 'server/package.json': { name: 'app', scripts } }, () =>
      assert.rejects(see({}, nothing), {
        message: /^The packages of the working tree do not install: npm ci .*ended with exit code 3/,
      }),
    )
  })

  test('--install replaces what the lockfile says; an older Node than a package manager needs is told', async () => {
    await see({ install: 'echo own > own.txt' }, ([found], said) => {
      assert.ok(existsSync(join(found?.directory ?? '', 'own.txt')))
      assert.equal(said[0], 'the working tree: installing as --install says.')
    })
    const install = 'echo "Error: No such built-in module: node:sqlite" >&2; exit 1'
    await assert.rejects(see({ install }, nothing), {
      message:
        /node:sqlite: this npm or package needs another Node than yours \(\d[\d.]+\); put that first on PATH, or say with --install/,
    })
  })

  test('an abort ends a build and what it started', () => {
    const asked = { abortAt: 'the working tree: building.', build: 'setsid sleep 600 & sleep 600' }
    return assert.rejects(see(asked, nothing), { name: 'AbortError' })
  })

  test('a lockfile of yarn 4 is not left to a yarn of version 1', async () => {
    const tools = join(place, 'tools')
    mkdirSync(tools)
    for (const name of ['npx', 'yarn']) {
      const script = `[ "$1" = --version ] && echo 1 || echo "${name} $*" >> ${join(place, 'done')}`
      writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    }
    const manifest = { scripts: { prestart: 'x', start: 'y' } }
    const files = {
      'later/package.json': manifest,
      'later/yarn.lock': '__metadata:\n  version: 8\n',
      'first/package.json': manifest,
      'first/yarn.lock': '# yarn lockfile v1\n',
    }
    const through = 'npx --yes --package=@yarnpkg/cli-dist@4 yarn'
    const startOf = (from: string) => see({ from }, ([found]) => found?.start)
    const starts = async () => [await startOf('later'), await startOf('first')]
    assert.deepEqual(await among(files, starts, `${tools}:${process.env.PATH}`), [
      `${through} start`,
      'yarn start',
    ])
    assert.deepEqual(readFileSync(join(place, 'done'), 'utf8').trim().split('\n'), [
      `${through} install --frozen-lockfile`,
      'yarn install --frozen-lockfile',
    ])
  })

  test('without a lockfile what is there is installed; --build is run in the root of the workspace, instead of the script', () => {
    const files = {
      'server/local/package.json': { name: 'local', version: '2.0.0' },
      'server/package.json': { name: 'app', dependencies: { local: 'file:./local' } },
      'package.json': { workspaces: ['server'] },
    }
    return among(files, async () => {
      rmSync(join(repository, 'server/package-lock.json'))
      await see({ build: 'pwd > made.txt' }, ([found]) => {
        assert.match(readFileSync(join(found?.directory ?? '', '../made.txt'), 'utf8'), /\/tree\n$/)
        assert.equal(found?.unlocked.get('local'), '2.0.0')
      })
    })
  })

  test('the history between two commits, and what cannot be searched in a sentence', () => {
    const from = join(repository, 'server')
    const commitOf = (title: string, ...words: string[]) => {
      git('commit', '--quiet', '--allow-empty', '-m', title, ...words)
      return git('rev-parse', 'HEAD').trim()
    }
    const first = git('rev-parse', 'main').trim()
    git('stash', '--quiet', '--include-untracked')
    git('checkout', '--quiet', '-b', 'history')
    try {
      commitOf('one')
      git('checkout', '--quiet', '-b', 'branch')
      const branch = [commitOf('in a branch'), commitOf('in a branch, too')]
      git('checkout', '--quiet', 'history')
      commitOf('beside it')
      git('merge', '--quiet', '--no-ff', '-m', 'Merge\u001b[31m branch', 'branch')
      const merge = git('rev-parse', 'HEAD').trim()
      const found = readHistory([first, 'history'], from)
      assert.equal(found.map(({ title }) => title).join(), 'one,beside it,Merge[31m branch')
      assert.deepEqual(Object.keys(found[0] ?? {}), ['hash', 'date', 'title', 'starts'])
      assert.ok(merge.startsWith(found[2]?.hash ?? 'x') && found[2]?.hash.length === 10)
      const inside = readBranch(merge, from).map(({ hash }) => hash)
      assert.equal(inside.join(), branch.map((hash) => hash.slice(0, 10)).join())
      assert.deepEqual(readBranch('history~1', from), [])
      const shallow = join(place, 'shallow')
      git('clone', '--quiet', '--depth', '1', `file://${repository}`, shallow)
      for (const [good, bad, sentence, where = from] of [
        [
          'history',
          first,
          /^\w+ is older than history: name the older one first, --git \w+ --git history\.$/,
        ],
        ['branch', 'history~1', /^branch is not an ancestor of history~1, .* part, with --git \w{10}\.$/],
        ['history~1', 'history~1', /it is no commit, so there is nothing to search: race them without /],
        ['history~2', 'history~1', /it is one commit, so there is nothing to search: race them without /],
        ['none', 'history', /^There is no commit 'none'/],
        ['main', 'main', /^This clone is shallow, .* git fetch --unshallow/, shallow],
        ['main', 'main', /is not in a git repository/, place],
      ] as const)
        assert.throws(() => readHistory([good, bad], where), { message: sentence })
    } finally {
      git('checkout', '--quiet', '--force', 'main')
      git('stash', 'pop', '--quiet')
    }
  })

  test('commits that need the same packages install once, unless an installation builds something', async () => {
    const scripts = { build: 'cat server.js > built.txt', start: 'x' }
    const kept = new Map<string, string>()
    git('stash', '--quiet', '--include-untracked')
    const refs = ['plain', 'code', 'packages'].map((title, index) => {
      git('checkout', '--quiet', '-B', title)
      write({
        'server/package.json': { name: 'app', version: index === 2 ? '2.0.0' : '1.0.0', scripts },
        'server/server.js': title,
      })
      git('commit', '--quiet', '--all', '-m', title)
      return title
    })
    try {
      await see({ refs, kept }, (found, said) => {
        const [one = '', two = '', three = ''] = found.map(({ directory }) => directory)
        assert.ok(one === two && two !== three)
        const built = [two, three].map((directory) => readFileSync(join(directory, 'built.txt'), 'utf8'))
        assert.deepEqual(built, ['code', 'packages'])
        const installed = said.flatMap((text) => /^(\w+): installing/.exec(text)?.[1] ?? [])
        assert.deepEqual(installed, ['plain', 'packages'])
      })
      const building = new Map<string, string>()
      await see({ refs: ['main'], kept: building }, () => assert.equal(building.size, 0))
    } finally {
      git('checkout', '--quiet', '--force', 'main')
      git('stash', 'pop', '--quiet')
    }
  })

  test('a command may name a file that only the person has', () => {
    const [from = '', one = '', other = ''] = ['from', 'sides/one', 'sides/other'].map((name) => {
      const directory = join(place, name)
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, 'server.js'), '')
      return directory
    })
    for (const file of [join(place, 'bench.mjs'), join(from, 'new.js'), join(other, 'new.js')])
      writeFileSync(file, '')
    const sides = [one, other].map((directory) => ({ ...NO_CHECKOUT, directory }))
    for (const [line, told] of [
      ['A=1 node ../bench.mjs', `A=1 node ${place}/bench.mjs`],
      // What is on one side only is the person's on both.
      ['node new.js', `node ${from}/new.js`],
      ['node ./server.js none.js', 'node ./server.js none.js'],
    ] as const)
      assert.equal(withFilesOf(line, from, sides), told)
  })
})

test('without a lockfile, what differs between both sides is told', () => {
  const sides = ['1.0.0', '2.0.0'].map((version) => ({
    ...NO_CHECKOUT,
    unlocked: new Map(Object.entries({ local: version, same: '1.0.0' })),
  }))
  assert.equal(
    whatDiffers(['V1', 'V2'], sides),
    'Without a lockfile, what the registry has today was installed: V1 and V2 have other versions of 1 package: local (1.0.0, 2.0.0).',
  )
})
