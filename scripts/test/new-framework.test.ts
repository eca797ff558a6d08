import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { TEST_RUN } from '@startgrid/cli/test-run.ts'

/**
 * Two frameworks are added to a copy of the repository, as CONTRIBUTING.md says: a folder in apps/ and one entry in the catalogue. Everything
 * that knows frameworks must know them, or name what is missing. They are Express and Hono under other names: the ninth and the tenth.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NAME = 'acme'
const TENTH = 'zebra'
const PORT = 9
const LEFT_OUT = new Set(['.git', '.turbo', '.cache'])
/** Links to packages, and what people measured: neither is in git. */
const OWN = new Set(['node_modules', 'bench/results'].map((path) => join(ROOT, path)))

const copy = mkdtempSync(join(tmpdir(), 'startgrid-acme-'))
const at = (path: string): string => join(copy, path)

before(() => {
  cpSync(ROOT, copy, {
    recursive: true,
    verbatimSymlinks: true, // the links of the workspace are relative, so they lead to the copy
    filter: (path) => !OWN.has(path) && !LEFT_OUT.has(basename(path)),
  })
  symlinkSync(join(ROOT, 'node_modules'), at('node_modules'))
  for (const [relative, name] of [
    ['express', NAME],
    ['hono', TENTH],
  ] as const) {
    cpSync(at(`apps/${relative}`), at(`apps/${name}`), { recursive: true, verbatimSymlinks: true })
    edit(`apps/${name}/package.json`, (text) => text.replace(`@startgrid/${relative}`, `@startgrid/${name}`))
    edit(`apps/${name}/src/server.ts`, (text) => text.replace(`'${relative}', ROLES`, `'${name}', ROLES`))
  }
  // An ejected app is what git has, and it names the commit.
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['-c', 'user.name=Acme', '-c', 'user.email=a@acme.example', 'commit', '--quiet', '--message', 'All'],
  ])
    execFileSync('git', args, { cwd: copy })
})
after(() => rmSync(copy, { recursive: true, force: true }))

describe('a folder without an entry', () => {
  test('dev names the file that lacks the entry', async () => {
    const { code, output } = await run('scripts/dev.ts', `${NAME}/hello`)
    assert.equal(code, 2)
    assert.match(
      output,
      /a folder apps\/acme, but no entry 'acme' in packages\/grid\/src\/frameworks\.ts: add one\./,
    )
  })

  test('check lists it, and what follows from it', async () => {
    const { code, output } = await run('scripts/check.ts', NAME)
    assert.equal(code, 1)
    assert.match(output, /1\. .*has no entry 'acme': add one\.\n +2\. docker-compose.*generate\n$/)
  })

  test('a framework of which nothing is there has everything to write, in one list', async () => {
    const { output } = await run('scripts/check.ts', 'nothing')
    assert.match(
      output,
      /package\.json is missing[\s\S]*src\/hello\.ts[\s\S]*fixtures\/failing\.ts[\s\S]*README\.md/,
    )
  })

  test('so does the test of the catalogue', async () => {
    const { code, output } = await run('--test', 'packages/grid/test/apps.test.ts')
    assert.equal(code, 1)
    assert.match(output, /apps\/acme has no entry in packages\/grid\/src\/frameworks\.ts: add one\./)
  })
})

describe('a folder and an entry', () => {
  before(() => {
    const entry = (name: string, title: string, own: string, remarks = '') => `  {
    name: '${name}',
    title: '${title}',
    runtime: 'node',
    package: '${own}',
    docs: 'https://${name}.example',
    style: 'callback',
${remarks}    absent: [],
  },
`
    const remarks = "    remarks: { 'failing-handler': 'Its adapter prints the error.' },\n"
    edit('packages/grid/src/frameworks.ts', (text) =>
      text.replace(
        /^\]\n\n\/\*\* The framework in/m,
        `${entry(NAME, 'Acme', 'express')}${entry(TENTH, 'Zebra', 'hono', remarks)}$&`,
      ),
    )
  })

  test('the check of pnpm lint names the files to generate', async () => {
    const { code, output } = await run('scripts/generate.ts', '--check')
    assert.equal(code, 1)
    assert.match(
      output,
      /docker-compose\.yml, \.env, docker\/README\.md, deploy\/kubernetes\/.*, docs\/choosing-a-framework\.md, .*deploy\/kubernetes\/frameworks\/acme\/ssr\/kustomization\.yaml.*\. Run pnpm generate\./,
    )
  })

  test('pnpm generate writes it into the Compose file and the tables of the docs', async () => {
    assert.equal((await run('scripts/generate.ts')).code, 0)
    assert.equal((await run('scripts/generate.ts', '--check')).code, 0)
    const compose = read('docker-compose.yml')
    for (const [index, role] of ['hello', 'ssr', 'status'].entries()) {
      assert.match(
        compose,
        new RegExp(`^  ${NAME}-${role}:\n    <<: \\*${NAME}\n.*\n.*:-4}1${PORT}${index + 1}:3000"`, 'm'),
      )
      assert.match(compose, new RegExp(`:-4}1${PORT}${index + 6}:41${PORT}${index + 6} # ${NAME}-${role}`))
    }
    assert.match(compose, /args: \{ FRAMEWORK: acme \}/)
    assert.match(read('.env'), /^COMPOSE_PROFILES=.*,acme,zebra$/m)
    assert.match(read('docker/README.md'), /^\| acme +\| 4191 +\| 4192 [\s\S]*^\| zebra +\| 4201 /m)
    assert.match(read('docs/choosing-a-framework.md'), /^\| \[acme\].*\[Acme\]\(https:\/\/acme\.example\)/m)
  })

  test('and into the manifests for Kubernetes: an overlay for each app, its place in the grid, and its ports', () => {
    const overlay = read(`deploy/kubernetes/frameworks/${NAME}/ssr/kustomization.yaml`)
    assert.match(overlay, /app\.kubernetes\.io\/name: acme-ssr/)
    assert.match(overlay, /newName: startgrid\/acme, newTag: \w+/)
    assert.match(overlay, /value: \[node, src\/server\.ts, ssr\]/)
    const grid = read('deploy/kubernetes/grid/kustomization.yaml')
    assert.match(grid, /^ {2}- \.\.\/frameworks\/acme$/m)
    assert.match(grid, /^ {2}- \{ name: startgrid\/acme, newTag: \w+ \}$/m)
    assert.match(
      read('deploy/kubernetes/components/nginx/service.yaml'),
      new RegExp(`port: 41${PORT}7 \\} # acme-ssr`),
    )
  })

  test('the catalogue has its folder, its files and a port of its own', async () => {
    const { code, output } = await run('--test', 'packages/grid/test/apps.test.ts')
    assert.equal(code, 0, output)
  })

  test('dev starts it, and conformance finds nothing wrong', { timeout: 300_000 }, async () => {
    const dev = spawn(process.execPath, ['scripts/dev.ts', `${NAME}/hello`], {
      cwd: copy,
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => dev.once('exit', resolve))
    try {
      for await (const address of readAddresses(dev.stdout)) {
        const { code, output } = await run('scripts/conformance.ts', 'hello', address)
        // It restarts with another port, perhaps during the suite, because the tests before wrote files.
        if (output.includes('Nothing listens')) continue
        assert.equal(code, 0, output)
        break
      }
    } finally {
      dev.kill('SIGTERM')
      await ended
    }
  })

  test('pnpm test has it', async () => {
    const { code, output } = await run('scripts/test.ts', '--help')
    assert.equal(code, 0, output)
    assert.match(output, /eject with its apps:.*\bacme\b/s)
  })

  test('bench --list has it, direct and behind NGINX', async () => {
    const { code, output } = await run('bench/src/cli/main.ts', '--list')
    assert.equal(code, 0, output)
    for (const role of ['hello', 'ssr', 'status']) assert.match(output, new RegExp(`${NAME}/${role}\\b`))
  })

  test('eject copies it out, under its own title', async () => {
    const target = `${copy}-ejected`
    const words = [`${NAME}/status`, target, '--no-git', '--no-lockfile', '--name', 'my-acme']
    try {
      const { code, output } = await run('packages/eject/src/cli.ts', ...words)
      assert.equal(code, 0, output)
      const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'))
      assert.match(manifest.description, /, on Acme$/)
      assert.ok('express' in manifest.dependencies)
    } finally {
      rmSync(target, { recursive: true, force: true })
    }
  })

  test('the image of the NGINX in front has it: its fronts and its row of the landing page', async () => {
    const { code, output } = await run('scripts/front-image.ts', at('front'))
    assert.equal(code, 0, output)
    assert.match(read('front/nginx.conf'), /listen 0\.0\.0\.0:4197/)
    assert.match(
      read('front/templates/grid.conf.template'),
      /server acme-ssr-pods\.\$\{SERVICES\}:3000 resolve/,
    )
    assert.match(read('front/page/index.html'), /<tr data-framework="acme">[\s\S]*?data-service="acme-ssr"/)
  })

  test('both have all parts', async () => {
    for (const name of [NAME, TENTH]) {
      const { output } = await run('scripts/check.ts', name)
      assert.match(output, /^\w+ has all parts\. /)
    }
  })

  test('their sources need no lint, and nobody compares with their names', async () => {
    const biome = spawnSync(
      at('node_modules/.bin/biome'),
      ['check', `apps/${NAME}`, `apps/${TENTH}`, 'packages/grid'],
      { cwd: copy, encoding: 'utf8' },
    )
    assert.equal(biome.status, 0, biome.stdout + biome.stderr)
    const { code, output } = await run('--test', 'scripts/test/framework-names.test.ts')
    assert.equal(code, 0, output)
  })

  test('their handlers fail as they should', { timeout: 120_000 }, async () => {
    const apps = [`${NAME}/hello`, `${TENTH}/hello`, '--fault', 'failing-handler']
    const { code, output } = await run('packages/reliability/src/cli/cli.ts', ...apps)
    assert.equal(code, 0, output)
  })

  const some = [
    'experiment/budget',
    'experiment/cells',
    'experiment/open-loop-effort',
    'cli/options.unit',
    'simulation/world.unit',
  ]
  const all = ['one-process', 'report/html/browser', '!(experiment|golden|judge|model|report)/**/!(*.unit)']
  test(
    TEST_RUN.full ? 'bench passes its tests with ten' : 'the plans of bench have room for ten',
    async () => {
      const files = (TEST_RUN.full ? all : some).map((file) => `bench/test/${file}.test.ts`)
      const { code, output } = await run(
        '--test',
        ...(TEST_RUN.full ? ['--test-concurrency=2'] : ['--test-isolation=none']),
        ...files,
      )
      assert.equal(code, 0, output)
      assert.doesNotMatch(output, /^Could not find/m)
    },
  )
})

function read(path: string): string {
  return readFileSync(at(path), 'utf8')
}

/** Fails if nothing was changed: the file is not what this test takes it for. */
function edit(path: string, change: (text: string) => string): void {
  const before = read(path)
  const after = change(before)
  assert.notEqual(after, before, `${path} is not changed`)
  writeFileSync(at(path), after)
}

/** Node in the copy. */
async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const { INIT_CWD: _, ...env } = process.env
  const { code, stdout, stderr } = await startNode(args, { cwd: copy, env }).ended
  return { code, output: stdout + stderr }
}

/** From the lines that say that the app listens. */
async function* readAddresses(output: NodeJS.ReadableStream): AsyncGenerator<string> {
  for await (const line of createInterface(output)) {
    if (line.includes('"msg":"listening"')) yield (JSON.parse(line) as { address: string }).address
  }
  throw new Error('It ended before it listened.')
}
