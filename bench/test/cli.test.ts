import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type Result, validateResult } from '../src/results.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-cli-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

const nginx = await findNginx({ download: false })
const skip = nginx.kind === 'none' && nginx.describe()

const linux = process.platform === 'linux'

interface Run {
  child: ChildProcess
  /** Everything it makes, temporary files included, is below it. */
  place: string
  stderr(): string
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>
}

let runs = 0

function start(args: readonly string[], env: Record<string, string> = {}): Run {
  const place = mkdtempSync(join(DIRECTORY, `${++runs}-`))
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: place,
    env: { ...process.env, TMPDIR: place, STARTGRID_TEST_RUN: place, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, as a terminal makes it
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { child, place, stderr: () => stderr, ended }
}

const SHORT = [
  '--rounds',
  '1',
  '--duration',
  '200ms',
  '--warmup',
  '200ms',
  '--no-download',
  '--output',
  'out',
]

/** As a terminal does: the servers get the signal too. */
function interrupt({ pid = 0 }: ChildProcess): void {
  process.kill(-pid, 'SIGINT')
}

async function saying({ child, stderr }: Run, text: string): Promise<void> {
  while (!stderr().includes(text)) await once(child.stderr ?? child, 'data')
}

/** A process of this run whose command line has the words, as soon as there is one. */
async function findProcess(place: string, words: RegExp): Promise<number> {
  for (;;) {
    const found = processesOf(place).find((pid) => words.test(commandLine(pid)))
    if (found !== undefined) return Number(found)
    await sleep(20)
  }
}

function readResult(path: string): Result {
  const result: unknown = JSON.parse(readFileSync(path, 'utf8'))
  assert.deepEqual(validateResult(result), [])
  return result as Result
}

function assertNothingLeft(place: string): void {
  const directories = readdirSync(place).filter((name) => name.startsWith('startgrid-'))
  assert.deepEqual(directories, [], 'temporary directories')
  assert.deepEqual(processesOf(place).map(commandLine), [], 'processes')
}

/** Children inherit the environment; NGINX overwrites its own, but names its directory. */
function processesOf(place: string): string[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc').filter(
    (pid) =>
      readOf(pid, 'environ').includes(`STARTGRID_TEST_RUN=${place}`) || commandLine(pid).includes(place),
  )
}

function commandLine(pid: string): string {
  return readOf(pid, 'cmdline').replaceAll('\0', ' ')
}

function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return '' // no process, or someone else's
  }
}

test('a short run: tables, result.json, report.md, the same as JSON, and nothing left running', async () => {
  const { place, ended } = start([
    '--only',
    'node',
    '--role',
    'status',
    ...SHORT,
    '--json',
    'r.json',
    '--seed',
    '7',
  ])
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  const result = readResult(join(place, 'out/result.json'))
  assert.deepEqual(readResult(join(place, 'r.json')), result)
  assert.ok(result.finishedAt !== null && result.finishedAt > result.startedAt)
  assert.deepEqual(
    result.cells.map(({ app, topology, errors }) => [app, topology, errors]),
    [
      ['node/status', 'direct', 0],
      ['node/status', 'nginx', 0],
    ],
  )
  const [direct] = result.cells
  assert.ok((direct?.rate ?? 0) > 0 && direct?.voided === false)
  assert.ok((direct?.rounds[0]?.checked ?? 0) > 0)
  assert.match(stdout, /status: GET \/_\/status/)
  assert.match(stdout, /seed 7/)
  assert.match(stderr, /^heat 1 of 1: status, round 1$/m)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /^\|node {5}\|direct\|/m)
  assertNothingLeft(place)
})

describe('behind NGINX', { skip }, () => {
  test('the ceiling, both topologies and njs with its engine', async () => {
    const { place, ended } = start(['--only', 'node,njs', '--role', 'hello', ...SHORT, '--json', '-'])
    const { stdout, stderr } = await ended
    const result = JSON.parse(stdout) as Result
    assert.deepEqual(validateResult(result), [])
    assert.ok((result.driver.ceiling ?? 0) > 0, stderr)
    const node = result.cells.find(({ app, topology }) => app === 'node/hello' && topology === 'nginx')
    assert.deepEqual([node?.voidedBecause, node?.errors], [null, 0])
    if (process.platform === 'linux') {
      assert.ok((node?.cpuPerRequest?.proxy ?? 0) > 0)
      assert.ok((node?.peakMemory.proxy ?? 0) > 0)
    }
    for (const njs of result.cells.filter(({ framework }) => framework === 'njs')) {
      if (nginx.kind !== 'none' && nginx.njs === undefined) assert.equal(njs.skipped, true)
      else assert.match(njs.engine ?? '', /^(qjs|njs) in NGINX \d/)
    }
    assertNothingLeft(place)
  })
})

test('an app that does not come up is void with its own words, and that is exit code 1', async () => {
  const { place, ended } = start(
    ['--only', 'node,koa', '--role', 'status', '--topology', 'direct', ...SHORT],
    {
      TRUST_PROXY: 'nonsense',
    },
  )
  const { code, stdout, stderr } = await ended
  assert.equal(code, 1, stderr)
  const { cells } = readResult(join(place, 'out/result.json'))
  assert.equal(cells.length, 2)
  for (const cell of cells) {
    assert.deepEqual([cell.rate, cell.voided, cell.skipped], [null, true, false])
    assert.match(
      cell.voidedBecause ?? '',
      /^the app ended with 1 before it listened: TRUST_PROXY is "nonsense"/,
    )
  }
  assert.match(stdout, /node\/status direct, koa\/status direct are void: the app ended/)
  assertNothingLeft(place)
})

test('without NGINX its cells and the njs apps are skipped, the rest goes on', async () => {
  const { place, ended } = start(['--only', 'node,njs', '--role', 'status', ...SHORT], {
    STARTGRID_NGINX: '/no/such/nginx',
  })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  const { cells, cautions } = readResult(join(place, 'out/result.json'))
  assert.deepEqual(
    cells.map(({ app, topology, skipped }) => [app, topology, skipped]),
    [
      ['node/status', 'direct', false],
      ['node/status', 'nginx', true],
      ['njs/status', 'direct', true],
      ['njs/status', 'nginx', true],
    ],
  )
  assert.match(cautions.join('\n'), /The cells behind NGINX and the njs apps are skipped\..* would help: \S+/)
  assert.match(stdout.replaceAll('\n', ' '), /^.*are skipped\..*status: GET/)
  assert.doesNotMatch(stdout, /njs\/status/)
  assertNothingLeft(place)
})

test('Ctrl-C keeps what was measured and stops the servers', async () => {
  const run = start([
    ...['--only', 'node', '--role', 'status', '--topology', 'direct'],
    ...[...SHORT, '--rounds', '100'],
  ])
  const { place, stderr } = run
  await saying(run, 'heat 3 of')
  interrupt(run.child)
  const { code, stdout } = await run.ended
  assert.equal(code, 130, stderr())
  const { cells, finishedAt } = readResult(join(place, 'out/result.json'))
  assert.equal(finishedAt, null)
  const [cell] = cells
  assert.ok(cell && cell.rounds.length >= 2 && cell.rounds.length < 100)
  assert.deepEqual([cell.voided, cell.errors], [false, 0])
  assert.match(stdout, /status: GET/)
  assert.match(stderr(), /Interrupted: what was measured before/)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /Interrupted/)
  assertNothingLeft(place)
})

test('Ctrl-C while apps start stops them as well', async () => {
  const run = start([...['--only', 'node,fastify,koa', '--role', 'status', '--topology', 'direct'], ...SHORT])
  const { place, stderr } = run
  await saying(run, 'heat 1 of')
  interrupt(run.child)
  const { code } = await run.ended
  assert.equal(code, 130, stderr())
  const { cells } = readResult(join(place, 'out/result.json'))
  assert.deepEqual(
    cells.map(({ voidedBecause }) => voidedBecause),
    ['not measured', 'not measured', 'not measured'],
  )
  assertNothingLeft(place)
})

test('a second Ctrl-C ends at once', async () => {
  const run = start([
    '--only',
    'node',
    '--role',
    'status',
    '--topology',
    'direct',
    ...SHORT,
    '--rounds',
    '100',
  ])
  await saying(run, 'heat 2 of')
  // Stopped servers cannot end in good order, so the first Ctrl-C waits for them.
  const server = linux ? await findProcess(run.place, /server\.ts status/) : 0
  if (linux) process.kill(server, 'SIGSTOP')
  run.child.kill('SIGINT')
  await saying(run, 'once more ends at once')
  await sleep(600)
  run.child.kill('SIGINT')
  const { code } = await run.ended.finally(() => linux && process.kill(server, 'SIGKILL'))
  assert.equal(code, 130)
})

describe('what dies during a run voids its cells, and the rest goes on', {
  skip: !linux && 'needs /proc',
}, () => {
  const LONG = [...SHORT, '--duration', '1s', '--warmup', '1s']

  async function runAndKill(args: readonly string[], words: RegExp): Promise<Result> {
    const run = start([...args, ...LONG])
    await saying(run, 'heat 1 of')
    const pid = await findProcess(run.place, words)
    await sleep(1500)
    process.kill(pid, 'SIGKILL')
    const { code, stderr } = await run.ended
    assert.equal(code, 1, stderr)
    assertNothingLeft(run.place)
    return readResult(join(run.place, 'out/result.json'))
  }

  test('the generator', async () => {
    const args = ['--only', 'node,koa', '--role', 'status', '--topology', 'direct']
    const { cells } = await runAndKill(args, /loadgen\/src\/child\.ts/)
    const reasons = cells.map(({ voidedBecause }) => voidedBecause).filter((reason) => reason !== null)
    assert.equal(reasons.length, 1)
    assert.match(
      reasons[0] ?? '',
      /^no load could be offered in round 1: The generator process \d+ has ended/,
    )
  })

  test('an app', async () => {
    const args = ['--only', 'node,bun', '--role', 'status', '--topology', 'direct']
    const { cells } = await runAndKill(args, /bun\S* src\/server\.ts/)
    const [node, bun] = cells
    assert.equal(node?.voided, false)
    assert.match(bun?.voidedBecause ?? '', /^the app was ended by SIGKILL in round 1$/)
  })

  test('NGINX', { skip }, async () => {
    const { cells } = await runAndKill(['--only', 'node', '--role', 'status'], /nginx: master/)
    const [direct, proxied] = cells
    assert.equal(direct?.voided, false)
    assert.equal(proxied?.voidedBecause, 'NGINX ended in round 1')
  })
})

test('wrong words are one sentence and exit code 2, before anything is measured', async () => {
  for (const [args, sentence] of [
    [['--only', 'fastfy'], /^There is no app 'fastfy'\. Frameworks: .*\.\n$/],
    [['--rounds', '0'], /^--rounds is '0', but must be .*\.\n$/],
  ] as const) {
    const { code, stdout, stderr } = await start(args).ended
    assert.equal(code, 2)
    assert.match(stderr, sentence)
    assert.equal(stdout, '')
  }
})

test('an output that cannot be written is one sentence before anything is measured', async () => {
  const { code, stderr } = await start(['--output', `${CLI}/out`]).ended
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^Nothing can be written to \S+ \(ENOTDIR.*\): choose another place with --output\.\n$/,
  )
})

test('--list prints the chosen cells, --help the options', async () => {
  const list = await start(['--list', '--only', 'koa', '--role', 'ssr', '--topology', 'direct,nginx-naive'])
    .ended
  assert.deepEqual([list.code, list.stdout], [0, 'koa/ssr direct\nkoa/ssr nginx-naive\n'])
  const all = await start(['--list']).ended
  assert.equal(all.stdout.trim().split('\n').length, 42)
  const help = await start(['--help']).ended
  assert.deepEqual([help.code, help.stderr], [0, ''])
  assert.match(help.stdout, /--quick/)
})
