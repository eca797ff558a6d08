import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode, startProgram } from '@startgrid/cli/test-programs.ts'

/** The package as npm packs and runs it. */

const LIMIT = { timeout: 300_000 }
const EJECT = fileURLToPath(new URL('../../eject/src/cli.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))

let directory: string
let tarball: string

/** npm starts scripts with the first node of the PATH: it must be the one that runs these tests. */
const { INIT_CWD: _, ...rest } = process.env
const env = { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${rest.PATH}`, CI: 'true' }

/** `npm create startgrid@latest`, but from the tarball. */
function create(args: readonly string[], cwd: string) {
  const words = ['--yes', '--offline', `--package=${tarball}`, '--', 'create-startgrid', ...args]
  return startProgram('npx', words, { cwd, env }).ended
}

describe('create-startgrid', () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'create-'))
    const args = ['pack', `--pack-destination=${directory}`]
    const { code, stderr } = await startProgram('npm', args, { cwd: ROOT, env }).ended
    equal(code, 0, stderr)
    tarball = join(directory, readdirSync(directory)[0] ?? '')
  }, LIMIT)

  after(() => rmSync(directory, { recursive: true, force: true }))

  test('it is at most 1 MB, and needs no other package', LIMIT, () => {
    ok(statSync(tarball).size <= 2 ** 20)
    equal(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies, undefined)
    match(readFileSync(join(ROOT, 'dist/LICENSES.txt'), 'utf8'), /^@clack\/prompts /m)
  })

  test('run from the tarball, it makes the same project as pnpm eject', LIMIT, async () => {
    const [ours, theirs] = [join(directory, 'ours'), join(directory, 'theirs')]
    mkdirSync(ours)
    mkdirSync(theirs)
    const args = ['express/ssr', 'my-app', '--with', 'telemetry,nginx,kubernetes']
    const created = await create(args, theirs)
    equal(created.code, 0, created.stderr)
    match(created.stdout, /^my-app is a project of its own now/)
    const ejected = await startNode([EJECT, ...args], { cwd: ours, env }).ended
    equal(ejected.code, 0, ejected.stderr)
    deepEqual(readAll(join(theirs, 'my-app')), readAll(join(ours, 'my-app')))
  })

  test('without a terminal it lists the apps, and asks nothing', LIMIT, async () => {
    const empty = join(directory, 'empty')
    mkdirSync(empty)
    const { code, stderr } = await create([], empty)
    equal(code, 2)
    match(stderr, /^npm create startgrid@latest <framework>\/<role> <directory>[\s\S]* fastify\/ssr /)
    deepEqual(readdirSync(empty), [])
  })
})

/** All files by path, but the lockfile: npx runs offline here, where npm may write none. */
function readAll(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const kept = paths.filter((path) => !path.endsWith('package-lock.json')).sort()
  return Object.fromEntries(kept.map((path) => [path.slice(root.length), readFileSync(path, 'utf8')]))
}
