import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { ejectTree } from '@startgrid/eject/eject-tree.ts'
import { readSource } from '@startgrid/eject/source.ts'
import { APPS, type App, findApps } from '@startgrid/grid/apps.ts'
import { type Bundle, readBundle } from '../src/bundle.ts'

/** The package as npm packs and runs it. */

const MEGABYTE = 2 ** 20
const LIMIT = { timeout: 300_000 }
const EJECT = fileURLToPath(new URL('../../eject/src/cli.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))

let directory: string
let tarball: string
let bundle: Bundle

/** npm starts scripts with the first node of the PATH: it must be the one that runs these tests. */
const { INIT_CWD: _, NODE_TEST_CONTEXT: __, ...rest } = process.env
const env = { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${rest.PATH}`, CI: 'true' }

async function run(file: string, args: readonly string[], cwd: string) {
  try {
    return { code: 0, ...(await promisify(execFile)(file, args, { cwd, env })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** `npm create startgrid@latest`, but from the tarball. */
function create(args: readonly string[], cwd: string) {
  return run('npx', ['--yes', '--offline', `--package=${tarball}`, '--', 'create-startgrid', ...args], cwd)
}

describe('create-startgrid', () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'create-'))
    const { code, stdout, stderr } = await run(
      'npm',
      ['pack', '--json', `--pack-destination=${directory}`],
      ROOT,
    )
    equal(code, 0, stderr)
    const [packed] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))) as {
      filename: string
    }[]
    tarball = join(directory, packed?.filename ?? '')
    bundle = readBundle(pathToFileURL(join(ROOT, 'dist/projects.json.br')))
  }, LIMIT)

  after(() => rmSync(directory, { recursive: true, force: true }))

  test('it is at most 1 MB, and needs no other package', LIMIT, () => {
    ok(statSync(tarball).size <= MEGABYTE)
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
    equal(manifest.dependencies, undefined)
    match(readFileSync(join(ROOT, 'dist/LICENSES.txt'), 'utf8'), /^@clack\/prompts /m)
  })

  for (const app of findApps('fastify/ssr')) {
    test(
      `${app.name} is byte for byte what pnpm eject makes, with all options and without`,
      LIMIT,
      async () => {
        const source = await readSource(app, new AbortController().signal)
        const packed = bundle.sources[app.name]
        ok(packed)
        for (const options of [[], optionsOf(app)]) {
          const choices = { name: '@acme/tea-shop', options, lockfile: true }
          deepEqual([...ejectTree(packed, choices)], [...ejectTree(source, choices)])
        }
      },
    )
  }

  test('run from the tarball, it makes the same project as pnpm eject', LIMIT, async () => {
    const [app] = findApps('fastify/ssr')
    ok(app)
    const [ours, theirs] = [join(directory, 'ours'), join(directory, 'theirs')]
    mkdirSync(ours)
    mkdirSync(theirs)
    // npx runs offline here, and npm would then write no lockfile.
    const flags = ['--no-lockfile', ...optionsOf(app).flatMap((name) => ['--with', name])]
    const created = await create(
      ['my-app', '--framework', app.framework, '--role', app.role, ...flags],
      theirs,
    )
    equal(created.code, 0, created.stderr)
    match(created.stdout, /^my-app is a project of its own now/)
    const ejected = await run(process.execPath, [EJECT, app.name, join(ours, 'my-app'), ...flags], ours)
    equal(ejected.code, 0, ejected.stderr)
    deepEqual(readAll(join(theirs, 'my-app')), readAll(join(ours, 'my-app')))
  })

  test('with --yes it asks nothing, and without a terminal it lists the apps', LIMIT, async () => {
    const empty = join(directory, 'empty')
    mkdirSync(empty)
    const asked = await create([], empty)
    equal(asked.code, 2)
    equal(new Set(asked.stderr.match(/\b\w+\/(?:hello|ssr|status)\b/g)).size, APPS.length)
    deepEqual(readdirSync(empty), [])
    const unknown = await create(['my-app', '--framework', 'nest', '--yes'], empty)
    equal(unknown.code, 1)
    match(unknown.stderr, /^There is no framework 'nest'\. There are: node, fastify, /m)
    const made = await create(['--yes', '--no-git', '--no-lockfile'], empty)
    equal(made.code, 0, made.stderr)
    deepEqual(readdirSync(empty), ['my-app'])
  })
})

/** Those that the app can have. */
function optionsOf({ name }: App): string[] {
  return Object.entries(bundle.sources[name]?.options ?? {}).flatMap(([option, what]) =>
    'refused' in what ? [] : [option],
  )
}

/** All files but those of git, by path. */
function readAll(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = entries
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/\.git\//.test(path))
  return Object.fromEntries(
    paths.sort().map((path) => [path.slice(root.length), readFileSync(path, 'latin1')]),
  )
}
