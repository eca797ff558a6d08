import { deepEqual, doesNotMatch, equal, match, ok, throws } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { parse, parseAllDocuments } from 'yaml'
import { Settings } from '../../shared/src/config.ts'
import { APPS, type App, OPTIONS, type Option } from '../src/choices.ts'
import { makeProject } from '../src/project.ts'
import { ROOT, readSource } from '../src/source.ts'
import { installedBy, temporaryDirectory } from './support.ts'

/** What every project is like, without installing any. */

const source = readSource()

const BIOME = join(ROOT, 'node_modules/.bin/biome')

/** @param named an app, or its name */
function make(named: App | string, options: readonly Option[] = []) {
  const app = APPS.find((one) => one === named || one.name === named)
  ok(app)
  const files = makeProject(source, { app, name: '@acme/tea_shop', options })
  return {
    app,
    files,
    manifest: JSON.parse(files.get('package.json') ?? ''),
    read: (path: string) => files.get(path) ?? '',
  }
}

/** What a file imports; these tests may look for it by its form, because Biome has formatted it. */
function listImports(text: string): string[] {
  return [...text.matchAll(/^(?:import |export |\} from )(?:.*from )?'([^'\n]+)'$/gm)].map(
    ([, from = '']) => from,
  )
}

/** The package of a specifier, such as `@koa/router`; undefined for a file and for a module of Node. */
function packageOf(from: string): string | undefined {
  if (/^(?:\.|#|node:|virtual:|bun:)/.test(from) || [...builtinModules, 'bun'].includes(from))
    return undefined
  return from.split('/', from.startsWith('@') ? 2 : 1).join('/')
}

for (const app of APPS) {
  const isServer = app.runtime !== 'nginx'

  test(`${app.name} has all that it imports, and nothing of another role or of this repository`, () => {
    const { files, manifest } = make(app)
    const imported = new Set<string>()
    for (const [path, text] of files) {
      for (const [, from = ''] of text.matchAll(/'([#.]\S+)'/g))
        imported.add(from.startsWith('.') ? posix.join(posix.dirname(path), from) : from.slice(1))
      if (/^(?!recipes\/).*\.tsx?$/.test(path))
        for (const from of listImports(text)) ok(isThere(path, from), `${path}: ${from}`)
    }
    const others = ['hello', 'ssr', 'status', 'role'].filter((role) => role !== app.role)
    const isEntry =
      /server(?:\.\w+)?\.ts$|shared\/page\/(?:dev|env\.d|vite\.config|entry-server|\w+\/(?:page|client))\.tsx?$/
    const paths = [...files.keys()]
    for (const path of paths) {
      const isUsed = isEntry.test(path) || imported.has(path)
      ok(isUsed || !/^(?:src|shared)\/.*\.tsx?$/.test(path), `nothing imports ${path}`)
      const isOther = others.some((role) => posix.basename(path).startsWith(`${role}.`))
      ok(!isOther || !/^(?:src|test)\//.test(path), `${path} is of another role`)
    }
    const hasPage = paths.some((path) => path.startsWith('shared/page/'))
    equal(hasPage, app.role === 'ssr')
    for (const [path, text] of files)
      doesNotMatch(text.replace(/^Copied from .*$/m, ''), /startgrid|workspace:|catalog:|\{\{\w+\}\}/i, path)
    for (const range of Object.values({ ...manifest.dependencies, ...manifest.devDependencies }))
      match(String(range), /^\^?\d+\.\d+\.\d+$/)

    /** What the server runs is in its dependencies: an image has no others. */
    function isThere(path: string, from: string): boolean {
      const name = packageOf(from)
      const isServed =
        /^(?:src|shared)\/(?!testing\/|page\/(?:dev\.ts|vite\.config|hydrate|shop\/client))/.test(path)
      if (name !== undefined)
        return name in manifest.dependencies || ((!isServed || !isServer) && name in manifest.devDependencies)
      const file = from.replace('#shared/', 'shared/')
      if (from === '#shared/page/server.js') return files.has('shared/page/server.d.ts')
      return from.startsWith('#')
        ? files.has(file)
        : !from.startsWith('.') || files.has(posix.join(posix.dirname(path), from))
    }
  })

  test(`${app.name}: a recipe needs what its first line installs, and works in src`, () => {
    const { files, manifest } = make(app)
    for (const [path, text] of files) {
      if (!path.startsWith('recipes/')) continue
      const [packages = []] = installedBy(text)
      // npm install leaves a package where it is: in devDependencies, which an image has not.
      for (const name of packages) ok(!(name in manifest.devDependencies), `${path} installs ${name}`)
      const known = new Set([...packages, ...Object.keys(manifest.dependencies)])
      for (const from of listImports(text)) {
        const name = packageOf(from)
        ok(name === undefined || known.has(name), `${path} imports ${from}`)
        ok(!from.startsWith('.') || files.has(posix.join('src', from)), `${path} imports ${from}`)
        const isBuilt = from === '#shared/page/server.js'
        ok(!from.startsWith('#') || isBuilt || files.has(from.slice(1)), `${path} imports ${from}`)
      }
    }
  })
}

test('a role is one replacement, and a server without its text is refused', () => {
  const { app, read } = make('express/status')
  match(read('src/server.ts'), /^import \{ status as routes \} from '\.\/status\.ts'$/m)
  const files = { ...source.files, 'apps/express/src/server.ts': '// another one\n' }
  throws(
    () => makeProject({ ...source, files }, { app, name: 'a', options: [] }),
    /is there 0 times, not once/,
  )
})

test('a framework that runs on several runtimes has a server and a script for each, of one role', () => {
  const found = APPS.filter(({ framework }) => `apps/${framework}/src/server.deno.ts` in source.files)
  deepEqual([...new Set(found.map(({ framework }) => framework))], ['hono', 'h3'])
  for (const app of found)
    for (const runtime of ['bun', 'deno']) {
      const { read, manifest } = make(app)
      match(manifest.scripts[`start:${runtime}`], new RegExp(`^${runtime} .*src/server\\.${runtime}\\.ts$`))
      const routes = `import { ${app.role} as routes } from './${app.role}.ts'`
      ok(read(`src/server.${runtime}.ts`).includes(routes), app.name)
    }
})

test('what is edited is formatted, and its imports are sorted', async () => {
  using directory = temporaryDirectory()
  const names: string[] = []
  for (const app of APPS.filter(({ runtime }) => runtime !== 'nginx')) {
    const { read } = make(app, app.runtime === 'node' ? ['telemetry'] : [])
    writeFileSync(join(directory.path, 'biome.json'), read('biome.json').replace(/"vcs"[^}]*\},/, ''))
    const name = `${app.name.replace('/', '-')}.ts`
    names.push(name)
    writeFileSync(join(directory.path, name), read('src/server.ts'))
  }
  const { code, stdout, stderr } = await startProgram(BIOME, ['check', ...names], { cwd: directory.path })
    .ended
  equal(code, 0, stdout + stderr)
})

test('signals reach the server: whatever starts it in production names node, bun or nginx, and not npm', () => {
  for (const app of APPS) {
    const { read, manifest } = make(app, app.runtime === 'node' ? ['telemetry'] : [])
    const program = app.runtime === 'nginx' ? 'nginx' : app.runtime
    match(read('Dockerfile'), new RegExp(`^CMD \\["${program}", .*\\]$`, 'm'))
    const others = [read('Dockerfile'), read('compose.yaml'), read('README.md')].join('\n')
    doesNotMatch(others, /^.*(?:CMD|ExecStart|command).*npm.*$/m)
    if (app.runtime !== 'nginx')
      ok(read('README.md').includes(`ExecStart=/usr/bin/env ${manifest.scripts.start}`))
  }
})

test('its scripts are for every shell: no variables, no exec, no single quotes', () => {
  for (const app of APPS)
    for (const script of Object.values<string>(make(app).manifest.scripts))
      doesNotMatch(script, /^\w+=|[;&|] *\w+=|\bexec\b|'|\$/)
})

test('one example lists every setting with its default', () => {
  for (const app of APPS.filter(({ runtime }) => runtime !== 'nginx')) {
    const settings = make(app)
      .read('.env.example')
      .matchAll(/^# (\w+)=(.*)$/gm)
    const listed = Object.fromEntries([...settings].map(([, ...pair]) => pair))
    deepEqual(Object.keys(listed), Object.keys(Settings.shape))
    deepEqual(Settings.parse(listed), Settings.parse({}))
  }
})

test('the manifests of Kubernetes have the name of the project', () => {
  for (const app of APPS) {
    const { files } = make(app, ['kubernetes'])
    const manifests = [...files].filter(([path]) => /^kubernetes\/[\w-]+\.yaml$/.test(path))
    equal(manifests.length, 3)
    const { components } = parse(files.get('kubernetes/kustomization.yaml') ?? '')
    deepEqual(components, app.runtime === 'nginx' ? ['njs'] : undefined)
    for (const [path, text] of manifests) {
      doesNotMatch(text, /\bweb\b/)
      if (path.endsWith('kustomization.yaml')) continue
      for (const manifest of parseAllDocuments(text)) equal(manifest.toJSON().metadata.name, 'tea-shop')
    }
  }
})

test('what others make is pinned', () => {
  for (const app of APPS) {
    const { read } = make(app)
    for (const [, image] of read('Dockerfile').matchAll(/^FROM (\S+)/gm))
      match(String(image), /^[\w/]+:\d[\w.-]*$/)
    for (const [, action] of read('.github/workflows/ci.yml').matchAll(/uses: (\S+)/g))
      match(String(action), /^[\w/-]+@[\da-f]{40}$/)
  }
})

test('a container may do nothing that it need not, and is reached from this machine only', () => {
  for (const app of APPS) {
    const { app: service } = parse(make(app).read('compose.yaml')).services
    deepEqual(
      [service.read_only, service.init, service.cap_drop, service.security_opt],
      [true, true, ['ALL'], ['no-new-privileges:true']],
    )
    match(service.ports.join(), /^127\.0\.0\.1:[^,]+:3000$/)
  }
})

test('NGINX in front of a project is configured as it is here', () => {
  const { files, read } = make('express/ssr', ['nginx'])
  const config = read('nginx/nginx.conf')
  match(
    config,
    /^ {4}server \{\n {8}listen \[::\]:8080 ipv6only=off;\n {8}listen \[::\]:8443 ipv6only=off ssl;$/m,
  )
  doesNotMatch(config, /\$\{|\{\{|startgrid/)
  for (const [, file = ''] of config.matchAll(/^ *include ((?:http|server)\/[\w-]+\.conf);$/gm))
    ok(files.has(`nginx/${file}`), file)
})

test('options add, and change nothing but the server, the manifest and how it is started', () => {
  const plain = make('express/hello').files
  const whole = make('express/hello', Object.keys(OPTIONS) as Option[]).files
  const changed = [...plain.keys()].filter((path) => whole.get(path) !== plain.get(path))
  deepEqual(changed.sort(), ['Dockerfile', 'README.md', 'package.json', 'src/server.ts'])
})
