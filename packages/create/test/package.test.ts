import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { APPS } from '../../eject/src/choices.ts'
import { makeProject } from '../../eject/src/project.ts'
import { readSource } from '../../eject/src/source.ts'

/** The package as npm packs and runs it. */

const LIMIT = { timeout: 300_000 }
const OPTIONS = ['telemetry', 'nginx', 'kubernetes'] as const
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
    const name = 'my-app'
    const { code, stdout, stderr } = await create(['express/ssr', name, '--with', OPTIONS.join()], directory)
    equal(code, 0, stderr)
    match(stdout, /^my-app is a project of its own now/)
    const [app] = APPS.filter((one) => one.name === 'express/ssr')
    ok(app)
    const expected = makeProject(readSource(), { app, name, options: OPTIONS })
    const project = join(directory, name)
    const entries = readdirSync(project, { recursive: true, withFileTypes: true })
    // npx runs offline here, where npm may write no lockfile.
    const files = entries.filter((one) => one.isFile() && one.name !== 'package-lock.json')
    const paths = files.map((one) => join(one.parentPath, one.name))
    const made = paths.map((path) => [relative(project, path), readFileSync(path, 'utf8')])
    deepEqual(Object.fromEntries(made), Object.fromEntries(expected))
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
