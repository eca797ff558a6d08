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
import type { Result } from '../../src/model/result.ts'
import { validateResult } from '../../src/model/result-file.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
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

/** `--keep-voided`: on a machine that others use as well, numbers are voided, and that is not what is tested here. */
const SHORT = [
  ...['--heats', '1', '--slices', '1', '--slice', '100ms', '--warmup', '250ms'],
  ...['--no-download', '--output', 'out', '--keep-voided'],
]

/** As a terminal does: the servers get the signal too. */
function interrupt({ pid = 0 }: ChildProcess): void {
  process.kill(-pid, 'SIGINT')
}

async function saying({ child, stderr, ended }: Run, text: string): Promise<void> {
  while (!stderr().includes(text)) {
    const isOver = await Promise.race([
      once(child.stderr ?? child, 'data').then(() => false),
      ended.then(() => true),
    ])
    assert.ok(!isOver || stderr().includes(text), `It ended without saying '${text}': ${stderr()}`)
  }
}

/** A process of this run whose command line has the words, as soon as there is one. */
async function findProcess(place: string, words: RegExp): Promise<number> {
  for (let waited = 0; waited < 60_000; waited += 20) {
    const found = processesOf(place).find((pid) => words.test(commandLine(pid)))
    if (found !== undefined) return Number(found)
    await sleep(20)
  }
  throw new Error(`No process of this run matches ${words}.`)
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

/** Reasons by cell, of cells that were tried and failed at something else than being alone on the machine. */
function failuresOf({ heats }: Result): Record<string, string> {
  return Object.fromEntries(
    heats.flatMap(({ failures }) => failures.map(({ cell, reason }) => [cell, reason])),
  )
}

test('a short run: tables, result and reports, the same as JSON, and nothing left running', async () => {
  const args = ['--only', 'node', '--role', 'status', ...SHORT, '--json', 'r.json', '--seed', '7']
  const { place, ended } = start(args)
  const { code, stdout, stderr } = await ended
  assert.ok(code === 0 || code === 1, stderr)
  const result = readResult(join(place, 'out/result.json'))
  assert.deepEqual(readResult(join(place, 'r.json')), result)
  assert.ok(result.finishedAt !== null && result.finishedAt > result.startedAt)
  assert.deepEqual(
    result.cells.map(({ id, twinOf }) => [id, twinOf]),
    [
      ['node/status direct', null],
      ['node/status nginx', null],
      ['node/status#2 direct', 'node/status'],
      ['node/status#2 nginx', 'node/status'],
    ],
  )
  assert.deepEqual(failuresOf(result), {})
  const [direct] = result.analysis?.cells ?? []
  assert.ok((direct?.rate?.value ?? 0) > 0)
  assert.equal(result.conformance.length, nginx.kind === 'none' ? 2 : 4)
  assert.ok(result.conformance.every(({ checked, differences }) => checked > 30 && differences.length === 0))
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stdout, /seed 7/)
  assert.match(stderr, /^heat 1 of 1: status$/m)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /node/)
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /^<!doctype html>/i)
  assertNothingLeft(place)
})

describe('behind NGINX', { skip }, () => {
  test('the ceiling, both topologies and njs with its engine', async () => {
    const { place, ended } = start(['--only', 'node,njs', '--role', 'hello', ...SHORT, '--json', '-'])
    const { stdout, stderr } = await ended
    const result = JSON.parse(stdout) as Result
    assert.deepEqual(validateResult(result), [])
    assert.ok((result.driver.ceiling ?? 0) > 0, stderr)
    assert.deepEqual(failuresOf(result), {})
    const node = result.heats[0]?.slices.findLast(({ cell }) => cell === 'node/hello nginx')
    assert.deepEqual(node?.errors, {})
    if (linux) {
      assert.ok((node?.cpuSeconds.proxy ?? 0) > 0)
      assert.ok((result.heats[0]?.launches.find(({ app }) => app === 'nginx')?.peakMemory ?? 0) > 0)
    }
    for (const njs of result.cells.filter(({ framework }) => framework === 'njs')) {
      if (nginx.kind !== 'none' && nginx.njs === undefined) assert.notEqual(njs.skipped, null)
      else assert.match(njs.engine ?? '', /^(qjs|njs) in NGINX \d/)
    }
    assertNothingLeft(place)
  })
})

test('an app that does not come up fails the gate with its own words, and that is exit code 1', async () => {
  const args = ['--only', 'node,koa', '--role', 'status', '--topology', 'direct', ...SHORT]
  const { place, ended } = start(args, { TRUST_PROXY: 'nonsense' })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 1, stderr)
  const result = readResult(join(place, 'out/result.json'))
  assert.equal(result.heats.length, 0, 'what does not keep the contract is not measured')
  assert.equal(result.analysis?.cells.length, 3)
  for (const cell of result.analysis?.cells ?? []) {
    assert.deepEqual([cell.voided, cell.rate], [true, null])
    const gate = cell.gates.find((one) => one.gate === 'conformance')
    assert.equal(gate?.verdict, 'failed')
    assert.match(gate?.finding ?? '', /TRUST_PROXY is "nonsense"/)
  }
  assert.match(stdout, /TRUST_PROXY/)
  assertNothingLeft(place)
})

test('without NGINX its cells and the njs apps are skipped, the rest goes on', async () => {
  const { place, ended } = start(['--only', 'node,njs', '--role', 'status', ...SHORT], {
    STARTGRID_NGINX: '/no/such/nginx',
  })
  const { stdout, stderr } = await ended
  const result = readResult(join(place, 'out/result.json'))
  assert.deepEqual(failuresOf(result), {}, stderr)
  assert.deepEqual(
    result.cells.filter(({ twinOf }) => twinOf === null).map(({ id, skipped }) => [id, skipped]),
    [
      ['node/status direct', null],
      ['node/status nginx', 'there is no NGINX'],
      ['njs/status direct', 'there is no NGINX'],
      ['njs/status nginx', 'there is no NGINX'],
    ],
  )
  assert.ok(result.warnings.some(({ kind }) => kind === 'no-nginx'))
  assert.match(stderr, /NGINX/)
  assert.ok(
    (result.analysis?.cells.find(({ cell }) => cell === 'node/status direct')?.rate?.value ?? 0) > 0,
    stdout,
  )
  assertNothingLeft(place)
})

const ENDLESS = [
  ...['--only', 'node', '--role', 'status', '--topology', 'direct'],
  ...SHORT,
  '--heats',
  '100',
]

test('Ctrl-C keeps what was measured and stops the servers; --resume goes on with the same plan', async () => {
  const run = start(ENDLESS)
  const { place, stderr } = run
  await saying(run, 'heat 3 of')
  interrupt(run.child)
  const { code, stdout } = await run.ended
  assert.equal(code, 130, stderr())
  const before = readResult(join(place, 'out/result.json'))
  assert.equal(before.finishedAt, null)
  assert.ok(before.heats.length >= 2 && before.heats.length < 100)
  assert.deepEqual(failuresOf(before), {})
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stderr(), /Interrupted: what was measured before/)
  assertNothingLeft(place)

  const on = start(['--resume', join(place, 'out')])
  await saying(on, 'heat 2 of')
  assert.match(on.stderr(), new RegExp(`^${100 - before.heats.length} heats`, 'm'))
  interrupt(on.child)
  assert.equal((await on.ended).code, 130)
  const after = readResult(join(place, 'out/result.json'))
  assert.deepEqual(after.heats.slice(0, before.heats.length), before.heats)
  assert.ok(after.heats.length > before.heats.length)
  assert.deepEqual(
    after.heats.map(({ heat }) => heat),
    after.heats.map((_, index) => index + 1),
  )
  assert.ok(after.warnings.some(({ kind }) => kind === 'resumed'))
  assertNothingLeft(on.place)
})

test('after kill -9 the servers end and all but the heat in flight is kept', {
  skip: !linux && 'needs /proc',
}, async () => {
  const run = start(ENDLESS)
  await saying(run, 'heat 3 of')
  run.child.kill('SIGKILL')
  await run.ended
  for (let waited = 0; waited < 30_000 && processesOf(run.place).length > 0; waited += 100) await sleep(100)
  assert.deepEqual(processesOf(run.place).map(commandLine), [])
  const { heats, finishedAt } = readResult(join(run.place, 'out/result.json'))
  assert.equal(finishedAt, null)
  assert.ok(heats.length >= 2)
})

test('Ctrl-C while apps start stops them as well', async () => {
  const run = start([...['--only', 'node,fastify,koa', '--role', 'status', '--topology', 'direct'], ...SHORT])
  const { place, stderr } = run
  await saying(run, 'heat 1 of')
  interrupt(run.child)
  const { code } = await run.ended
  assert.equal(code, 130, stderr())
  assert.deepEqual(readResult(join(place, 'out/result.json')).heats, [])
  assertNothingLeft(place)
})

test('a second Ctrl-C ends at once', async () => {
  const run = start(ENDLESS)
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
  const LONG = [...SHORT, '--slice', '1s', '--warmup', '2s']

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
    const reasons = Object.values(failuresOf(await runAndKill(args, /loadgen\/src\/engine\/child\.ts/)))
    assert.equal(reasons.length, 1)
    assert.match(reasons[0] ?? '', /^no load could be offered: The generator process \d+ has ended/)
  })

  test('an app', async () => {
    const args = ['--only', 'node,bun', '--role', 'status', '--topology', 'direct']
    const failures = failuresOf(await runAndKill(args, /bun\S* src\/server\.ts/))
    assert.deepEqual(failures, { 'bun/status direct': 'the app was ended by SIGKILL' })
  })

  test('NGINX', { skip }, async () => {
    const failures = failuresOf(await runAndKill(['--only', 'node', '--role', 'status'], /nginx: master/))
    assert.deepEqual(new Set(Object.values(failures)), new Set(['NGINX ended']))
    assert.ok(Object.keys(failures).every((cell) => cell.endsWith(' nginx')))
  })
})

test('wrong words are one sentence and exit code 2, before anything is measured', async () => {
  for (const [args, sentence] of [
    [['--only', 'fastfy'], /^There is no app 'fastfy'\. Frameworks: .*\.\n$/],
    [['--heats', '0'], /^--heats is '0', but must be .*\.\n$/],
    [['--quick', '--thorough'], /^--quick and --thorough exclude each other: choose one\.\n$/],
    [['compar'], /^There is no command 'compar', only selfcheck, .*\.\n$/],
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

test('--list prints the chosen cells with their twin, --help the options', async () => {
  const list = await start(['--list', '--only', 'koa', '--role', 'ssr', '--topology', 'direct,nginx-naive'])
    .ended
  const cells = ['koa/ssr direct', 'koa/ssr nginx-naive', 'koa/ssr#2 direct', 'koa/ssr#2 nginx-naive']
  assert.deepEqual([list.code, list.stdout], [0, `${cells.join('\n')}\n`])
  const all = await start(['--list']).ended
  assert.equal(all.stdout.trim().split('\n').length, 48)
  const help = await start(['--help']).ended
  assert.deepEqual([help.code, help.stderr], [0, ''])
  assert.match(help.stdout, /--quick/)
})
