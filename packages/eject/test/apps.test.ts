import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { APPS, type App, FRAMEWORKS, ROLES } from '@startgrid/grid/apps.ts'
import { listImports, packageOf, resolveImport } from '../src/code/imports.ts'
import { eject } from '../src/eject.ts'
import { requireNode } from '../src/files/start.ts'
import { temporaryDirectory } from './support/directory.ts'

/** What every project is like, without installing any. Each framework has another role. */

const LIMIT = { timeout: 180_000 }

/** Of this repository, and nothing to a single service. */
const FOREIGN =
  /startgrid|workspace:|catalog:|monorepo|\broles?\b|benchmark|conformance|the grid\b|\b(?:other|every|each|all) apps?\b/gi

/** Foreign words, and the names of the frameworks that it is not on. */
function findForeignWords({ framework }: Pick<App, 'framework'>, path: string, text: string): string[] {
  const others = FRAMEWORKS.filter((other) => other !== framework && other !== 'node').join('|')
  // These say where the project is from.
  if (path === '.startgrid.json') return []
  if (path === 'README.md') text = text.replace(/^## Where it is from[\s\S]*$/m, '')
  text = text.replace(/<\/?\w+>|^\w+(?= \{$)/gm, '') // a framework may be called as an element of HTML
  const frameworks = text.match(new RegExp(`(?<!@)\\b(?:${others})\\b`, 'gi')) ?? []
  return [...(text.match(FOREIGN) ?? []), ...frameworks].map((word) => `${path}: ${word}`)
}

/** Imports that lead to no file of the project and to no package of its manifest; only what NGINX runs is bundled beforehand. */
function findLostImports(files: ReadonlyMap<string, string>, isBundled = false): string[] {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(files.get('package.json') ?? '')
  return [...files]
    .filter(([path]) => /\.tsx?$/.test(path))
    .flatMap(([path, text]) =>
      listImports(path, text).flatMap((from) => {
        const file = resolveImport(path, from)
        const name = packageOf(from)
        const isServed =
          !isBundled && /^(?:src|shared)\/(?!page\/(?:dev\/|vite\.config|hydrate|shop\/client))/.test(path)
        const isThere =
          file === undefined
            ? name === undefined || name in dependencies || (!isServed && name in devDependencies)
            : files.has(file)
        return isThere ? [] : `${path}: ${from}`
      }),
    )
}

/** The files of each app that was copied out already. */
const ejected = new Map<string, Promise<Map<string, string>>>()

function filesOf(app: App): Promise<Map<string, string>> {
  const known = ejected.get(app.name) ?? ejectAnew(app)
  ejected.set(app.name, known)
  return known
}

async function ejectAnew(app: App): Promise<Map<string, string>> {
  using directory = temporaryDirectory()
  const target = join(directory.path, 'my-app')
  await eject({
    app,
    target,
    name: 'my-app',
    git: false,
    lockfile: false,
    signal: new AbortController().signal,
  })
  const paths = globSync('**/*', { cwd: target, withFileTypes: true, exclude: [] })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1))
  const hidden = [
    '.startgrid.json',
    '.editorconfig',
    '.gitignore',
    '.dockerignore',
    '.github/workflows/ci.yml',
  ]
  return new Map(
    [...new Set([...paths, ...hidden])].map((path) => [path, readFileSync(join(target, path), 'utf8')]),
  )
}

const tried = FRAMEWORKS.flatMap((framework, index) =>
  APPS.filter((app) => app.framework === framework && app.role === ROLES[index % ROLES.length]),
)

for (const app of tried) {
  test(`${app.name} speaks of nothing but itself, and has all that it imports`, LIMIT, async () => {
    const files = await filesOf(app)
    deepEqual(
      [...files].flatMap(([path, text]) => findForeignWords(app, path, text)),
      [],
    )
    deepEqual(findLostImports(files, app.runtime === 'nginx'), [])
    for (const path of ['src/app.ts', 'test/app.test.ts', 'README.md', 'Dockerfile', 'compose.yaml'])
      ok(files.has(path), path)
    const [general = ''] = (files.get('README.md') ?? '').split('## Add a route')
    ok(general.split('\n').length <= 81)
    const { scripts, dependencies, devDependencies } = JSON.parse(files.get('package.json') ?? '')
    const expected = ['start', 'dev', 'test', 'typecheck', 'lint']
    deepEqual(
      expected.filter((name) => scripts[name] === undefined),
      [],
    )
    for (const range of Object.values({ ...dependencies, ...devDependencies }))
      match(String(range), /^\^?\d+\.\d+\.\d+$/)
  })
}

test('a project is one process on a port: what launches several is not in it', LIMIT, async () => {
  for (const app of tried.filter(({ runtime }) => runtime !== 'nginx')) {
    const files = await filesOf(app)
    deepEqual(
      [...files]
        .filter(([path, text]) => /launch\/|cluster|worker|SOCKET/.test(path + text))
        .map(([path]) => path),
      [],
    )
  }
})

test('it expects no error of types, because a package that it gets later may mend it', LIMIT, async () => {
  for (const app of tried) {
    const files = await filesOf(app)
    deepEqual(
      [...files].filter(([, text]) => /@ts-(?:expect-error|ignore)/.test(text)).map(([path]) => path),
      [],
    )
  }
})

test('its scripts are for every shell: no variables, no exec, no single quotes', LIMIT, async () => {
  for (const app of tried) {
    const files = await filesOf(app)
    const { scripts, license, private: isPrivate } = JSON.parse(files.get('package.json') ?? '')
    deepEqual(
      Object.values<string>(scripts).filter((script) => /^\w+=|[;&|] *\w+=|\bexec\b|'|\$/.test(script)),
      [],
    )
    deepEqual([isPrivate, license], [true, undefined])
  }
})

test('on an older Node, `npm start` says so in one sentence', LIMIT, async () => {
  using directory = temporaryDirectory()
  const script = join(directory.path, 'require-node.mjs')
  const runOn = (version: string) => {
    const pretend = `Object.defineProperty(process, 'version', { value: 'v${version}' })
Object.defineProperty(process.versions, 'node', { value: '${version}' })
`
    writeFileSync(script, pretend + requireNode())
    return spawnSync(process.execPath, [script], { encoding: 'utf8' })
  }
  for (const version of ['20.1.0', '24.8.1']) {
    const { status, stderr } = runOn(version)
    equal(status, 1)
    equal(
      stderr,
      `This needs Node 24.9 or newer, but runs on v${version}: install a newer one from https://nodejs.org.\n`,
    )
  }
  for (const version of ['24.9.0', '24.10.0', '26.0.0']) equal(runOn(version).status, 0, version)
})

test('two projects of one app are equal', LIMIT, async () => {
  const app = tried.at(-1)
  ok(app)
  deepEqual(await ejectAnew(app), await filesOf(app))
})
