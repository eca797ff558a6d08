import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { APPS } from '@startgrid/grid/apps.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { AppFault } from '../src/app.ts'
import type { Clients } from '../src/clients.ts'
import { type Cell, FAULTS, formatMatrix, tryFaults } from '../src/matrix.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

function cli(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

test('words that are not understood: exit code 2 and what is right', () => {
  for (const [args, said] of [
    [['nobody'], /^There is no app 'nobody'\. Name a framework \(.+\.\n$/],
    [['--fault', 'rain'], /^There is no fault 'rain', only stop, .+\.\n$/],
    [['--fast'], /^Unknown option '--fast'\. pnpm reliability --help lists the options\.\n$/],
    [['--full'], /^pnpm reliability --full is gone: .+\.\n$/],
  ] as const) {
    const { code, out, err } = cli(...args)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, said)
  }
})

test('help names every fault, within 80 columns', () => {
  const { code, out } = cli('--help')
  assert.equal(code, 0)
  for (const { name } of FAULTS) assert.match(out, new RegExp(`\\b${name}\\b`))
  assert.ok(out.split('\n').every((line) => line.length <= 80))
})

/** Tries something on two apps that are never started. @returns what is said of both */
async function trial(parts: Partial<AppFault>, signal = new AbortController().signal) {
  const cells: Cell[] = []
  const fault: AppFault = { name: 'f', atOnce: 1, ...parts }
  await tryFaults({
    faults: [fault],
    apps: APPS.slice(0, 2),
    nginx: {} as Nginx, // none is started
    signal,
    onCell: (cell) => cells.push(cell),
  })
  return cells.map(({ state, findings }) => [state, ...findings].join(': '))
}

test('nothing found: passed; something: failed; a fault that throws: failed', async () => {
  assert.deepEqual(await trial({}), ['passed', 'passed'])
  const said = async (parts: Partial<AppFault>) => (await trial(parts))[0]
  assert.equal(await said({ runOnApp: async () => ['It fell.'] }), 'failed: It fell.')
  const broken = { runOnApp: () => Promise.reject(new Error('No such thing.')) }
  assert.equal(await said(broken), 'failed: No such thing.')
  // What cannot be tried is not tried.
  assert.equal(await said({ ...broken, absent: () => 'It has none.' }), 'absent: It has none.')
})

test('an interruption ends a fault, and its cell does not count', async () => {
  const interruption = new AbortController()
  const run = () => {
    interruption.abort()
    return new Promise<never>(() => {})
  }
  assert.deepEqual(await trial({ runOnApp: run }, interruption.signal), [])
})

test('clients end with their fault, also when it throws', { timeout: 120_000 }, async () => {
  const started: Clients[] = []
  await trial({
    runOnApp: async (subject) => {
      started.push(subject.clients({ target: { host: '127.0.0.1', port: 1 }, path: '/', kept: 2 }))
      throw new Error('No such thing.')
    },
  })
  for (const clients of started) assert.equal((await clients.ended).responded, 0)
  assert.equal(started.length, 2)
})

test('the matrix: frameworks in columns, what failed below, 80 columns', () => {
  const cells = APPS.flatMap(({ name: app, framework, role }): Cell[] => {
    const known = { fault: 'stop', app, findings: [] }
    if (framework !== 'njs') return [{ ...known, state: 'passed' }]
    if (role !== 'hello')
      return [{ ...known, fault: 'uncaught', state: 'absent', findings: ['It has none.'] }]
    return [{ ...known, state: 'failed', findings: ['GET /json: 503.\nIts body was long.'] }]
  })
  const text = formatMatrix(['stop', 'uncaught'], cells)
  const others = APPS.filter(({ framework }) => framework !== 'njs').length
  assert.match(text, new RegExp(`^stop(?: +ok){${others / 3}} +1 FAIL$`, 'm'))
  assert.match(text, /^uncaught {20,}absent\n\nuncaught {2}absent: It has none\.\nstop/m)
  assert.match(text, /^stop {2}njs\/hello\n {2}GET \/json: 503\.\n {2}Its body was long\.$/m)
  assert.match(text, new RegExp(`^${others} passed, 1 failed, 2 absent$`, 'm'))
  assert.ok(text.split('\n').every((line) => line.length <= 80))
})
