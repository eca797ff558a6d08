import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { type AppSource, ejectTree } from '../src/eject-tree.ts'

/** What options may do, with two that are not ours. */

const SOURCE: AppSource = {
  app: 'koa/hello',
  repository: 'https://example.org/grid',
  commit: 'c0ffee',
  project: {
    description: 'Greets',
    framework: 'koa',
    health: 'ctx.health',
    role: 'hello',
    runtime: 'node',
    hasBuild: false,
    nodeVersion: '26.10.0',
    bunVersion: '1.4.5',
    nginxVersion: '1.30.6',
    dependencies: { koa: '^3.0.0' },
    devDependencies: { 'left-pad': '^1.0.0', typescript: '^6.0.0' },
    scripts: { start: 'node src/server.ts', dev: 'node --watch src/server.ts', test: 'node --test' },
    environment: [{ name: 'PORT', default: '3000', meaning: 'port to listen on' }],
    routes: [{ method: 'GET', path: '/', response: 'a greeting' }],
    recipes: '',
    particular: '',
  },
  files: { 'src/server.ts': 'start()\n' },
  options: {
    trace: {
      title: 'Traces',
      files: { 'src/trace.ts': 'trace()\n' },
      dependencies: { 'left-pad': '^1.0.0', abc: '^2.0.0' },
      arguments: ['--import', './src/trace.ts'],
      environment: [{ name: 'TRACE_TO', default: '', meaning: 'where traces go' }],
      readme: 'Set `TRACE_TO`.',
    },
    proxy: {
      title: 'A proxy',
      files: { 'proxy.yaml': 'service: {{label}}\npackage: "{{name}}"\n' },
      dependencies: {},
      arguments: [],
      environment: [],
      readme: 'Start it.',
    },
    magic: { refused: 'Koa knows no magic: use a wand.' },
  },
}

test('without options a project has no trace of them, and says where it is from', () => {
  const files = ejectTree(SOURCE, { name: '@acme/tea', options: [], lockfile: true })
  deepEqual([...files.keys()].sort(), [
    '.dockerignore',
    '.github/dependabot.yml',
    '.github/workflows/ci.yml',
    '.gitignore',
    '.startgrid.json',
    'Dockerfile',
    'README.md',
    'compose.yaml',
    'package.json',
    'src/server.ts',
  ])
  deepEqual(JSON.parse(files.get('.startgrid.json') ?? ''), {
    app: 'koa/hello',
    repository: 'https://example.org/grid',
    commit: 'c0ffee',
  })
  const manifest = JSON.parse(files.get('package.json') ?? '')
  equal(manifest.name, '@acme/tea')
  equal(manifest.scripts.start, 'node src/server.ts')
  deepEqual(
    [...files].filter(([, text]) => /trace|\{\{/i.test(text)),
    [],
  )
})

test('an option adds files, dependencies, arguments, variables and a section', () => {
  const files = ejectTree(SOURCE, { name: '@acme/tea', options: ['trace'], lockfile: true })
  equal(files.get('src/trace.ts'), 'trace()\n')
  const { scripts, dependencies, devDependencies } = JSON.parse(files.get('package.json') ?? '')
  equal(scripts.start, 'node --import ./src/trace.ts src/server.ts')
  equal(scripts.dev, 'node --watch --import ./src/trace.ts src/server.ts')
  equal(scripts.test, 'node --test')
  deepEqual(Object.entries(dependencies), [
    ['abc', '^2.0.0'],
    ['koa', '^3.0.0'],
    ['left-pad', '^1.0.0'],
  ])
  deepEqual(devDependencies, { typescript: '^6.0.0' })
  match(
    files.get('Dockerfile') ?? '',
    /^CMD \["node", "--import", "\.\/src\/trace\.ts", "src\/server\.ts"\]$/m,
  )
  match(files.get('compose.yaml') ?? '', /^ +- TRACE_TO$/m)
  match(files.get('README.md') ?? '', /^\| `TRACE_TO` \|[\s\S]*^## Traces\n\nSet `TRACE_TO`\.$/m)
})

test('options work together in any order, and each leaves the files of the others as they are', () => {
  const name = 'tea'
  const both = ejectTree(SOURCE, { name, options: ['proxy', 'trace'], lockfile: true })
  deepEqual(both, ejectTree(SOURCE, { name, options: ['trace', 'proxy', 'trace'], lockfile: true }))
  deepEqual(JSON.parse(both.get('.startgrid.json') ?? '').with, ['trace', 'proxy'])
  for (const option of ['proxy', 'trace']) {
    const alone = ejectTree(SOURCE, { name, options: [option], lockfile: true })
    for (const path of Object.keys(optionFiles(option))) equal(both.get(path), alone.get(path))
  }
})

function optionFiles(name: string): Readonly<Record<string, string>> {
  const option = SOURCE.options[name]
  return option === undefined || 'refused' in option ? {} : option.files
}

test('names are filled in: of the package, and as a DNS label', () => {
  for (const [name, label] of [
    ['@acme/my_tea.app', 'my-tea-app'],
    ['tea', 'tea'],
    ['_', 'app'],
    [`a${'-b'.repeat(40)}`, `a${'-b'.repeat(31)}`],
  ] as const) {
    const files = ejectTree(SOURCE, { name, options: ['proxy'], lockfile: true })
    equal(files.get('proxy.yaml'), `service: ${label}\npackage: "${name}"\n`)
  }
})

test('an option that is unknown, or that the app cannot have, is refused with a sentence', () => {
  throws(() => ejectTree(SOURCE, { name: 'tea', options: ['trance'], lockfile: true }), {
    name: 'EjectError',
    message: "There is no option 'trance'. The options are: trace, proxy, magic.",
  })
  throws(() => ejectTree(SOURCE, { name: 'tea', options: ['metrics'], lockfile: true }), {
    name: 'EjectError',
    message: '--with metrics is gone: choose --with telemetry and set OTEL_METRICS_EXPORTER=prometheus.',
  })
  throws(() => ejectTree(SOURCE, { name: 'tea', options: ['magic'], lockfile: true }), {
    name: 'EjectError',
    message: "koa/hello cannot have 'magic'. Koa knows no magic: use a wand.",
  })
  throws(() => ejectTree(SOURCE, { name: 'abc', options: ['trace'], lockfile: true }), { name: 'EjectError' })
})

test('an option that would replace a file is a defect', () => {
  const { trace, proxy } = SOURCE.options
  const source = { ...SOURCE, options: { trace, proxy: { ...proxy, files: { 'src/trace.ts': '' } } } }
  throws(() => ejectTree(source as AppSource, { name: 'tea', options: ['trace', 'proxy'], lockfile: true }), {
    message: "The option 'proxy' adds src/trace.ts, which the project has already.",
  })
})
