import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Result } from '../../src/result/result.ts'
import { assertNothingLeft, CLI, failuresOf, readResult, SHORT, start } from '../fixtures/bench-run.ts'
import { startCommandLine } from '../fixtures/command-line.ts'

const nginx = await findNginx({ download: false })

test('a short run: tables, result and reports, the same as JSON, and nothing left running', async () => {
  const { place, ended } = start([
    '--only',
    'node,njs',
    '--role',
    'status',
    ...SHORT,
    '--json',
    'r.json',
    '--seed',
    '7',
  ])
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
      ['njs/status direct', null],
      ['njs/status nginx', null],
      ['node/status#2 direct', 'node/status'],
      ['node/status#2 nginx', 'node/status'],
    ],
  )
  assert.deepEqual(failuresOf(result), {})
  const [direct] = result.analysis?.cells ?? []
  assert.ok((direct?.figures.rate?.value ?? 0) > 0)
  const tried = result.cells.filter(({ skipped }) => skipped === null)
  assert.equal(result.conformance.length, tried.length)
  assert.ok(result.conformance.every(({ checked, differences }) => checked > 10 && differences.length === 0))
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stdout, /seed 7/)
  assert.match(stderr, /^status, heat 1 of 1, \d:\d\d left$/m)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /node/)
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /^<!doctype html>/i)
  assertNothingLeft(place)
  if (nginx.kind !== 'none') assertMeasuredBehindNginx(result)
})

function assertMeasuredBehindNginx({ heats, cells }: Result): void {
  const node = heats[0]?.slices.findLast(({ cell }) => cell === 'node/status nginx')
  assert.deepEqual(node?.errors, {})
  if (process.platform === 'linux') {
    assert.ok((node?.cpuSeconds.proxy ?? 0) > 0)
    assert.ok((heats[0]?.launches.find(({ app }) => app === 'nginx')?.peakMemory ?? 0) > 0)
  }
  for (const njs of cells.filter(({ title }) => title === 'njs')) {
    if (nginx.kind !== 'none' && nginx.njs === undefined) assert.notEqual(njs.skipped, null)
    else assert.match(njs.engine ?? '', /^(qjs|njs) in NGINX \d/)
  }
}

test('an app that does not come up is void with its own words, and that is exit code 1', async () => {
  const args = ['--only', 'node', '--role', 'status', '--topology', 'direct', ...SHORT, '--json', '-']
  const { place, ended } = start(args, { TRUST_PROXY: 'nonsense' })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 1, stderr)
  const result = JSON.parse(stdout) as Result
  assert.equal(result.heats.length, 0, 'what does not keep the contract is not measured')
  assert.equal(result.analysis?.cells.length, 2)
  for (const cell of result.analysis?.cells ?? []) {
    assert.equal(cell.figures.rate, undefined)
    assert.match(cell.void ?? '', /^it breaks the contract: .*TRUST_PROXY is not valid/)
  }
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /TRUST_PROXY/)
  assertNothingLeft(place)
})

describe('before anything is measured', () => {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-cli-'))
  const { run, stop } = startCommandLine(directory)
  after(() => {
    stop()
    rmSync(directory, { recursive: true })
  })

  test('wrong words are one sentence and exit code 2', async () => {
    for (const [args, sentence] of [
      [['--only', 'fastfy'], /^There is no app 'fastfy'\. Frameworks: .*\.\n$/],
      [['--heats', '0'], /^--heats is '0', but must be .*\.\n$/],
      [['--resume'], /^pnpm bench --resume is gone: .*\.\n$/],
      [['compar'], /^There is no command 'compar', only race, study, .*\.\n$/],
    ] as const) {
      const { code, stdout, stderr } = await run(...args)
      assert.equal(code, 2)
      assert.match(stderr, sentence)
      assert.equal(stdout, '')
    }
  })

  test('an output that cannot be written is one sentence', async () => {
    const { code, stderr } = await run('--output', `${CLI}/out`)
    assert.equal(code, 2)
    assert.match(
      stderr,
      /^Nothing can be written to .+ \(ENOTDIR.*\): choose another place with --output\.\n$/,
    )
  })

  test('--help prints the options', async () => {
    const help = await run('--help')
    assert.deepEqual([help.code, help.stderr], [0, ''])
    assert.match(help.stdout, /--quick/)
  })
})
