import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { startClients } from '../src/clients.ts'
import { OF_APPS } from '../src/faults/apps.ts'
import { formatApp } from '../src/report.ts'
import { type Attempt, Row, Subject, tryFaults } from '../src/subject.ts'

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
  for (const { name } of OF_APPS) assert.match(out, new RegExp(`\\b${name}\\b`))
  assert.ok(out.split('\n').every((line) => line.length <= 80))
})

/** One that is never started. */
class Nobody extends Subject {
  readonly routes = { headers: [], health: '/', page: { path: '/', status: 200 }, pages: [] }

  start(): Promise<never> {
    return Promise.reject(new Error('No such server.'))
  }
}

/** @returns what is said of two faults */
async function trial(attempt: Attempt, signal = new AbortController().signal) {
  const faults = ['f', 'g'].map((name) => ({ name, rows: { r: attempt } }))
  const open = () => new Nobody(undefined, signal)
  const findings = await tryFaults(faults, open, { signal, hasCopies: true, onFindings: () => {} })
  return findings.map(({ kind, text }) => `${kind}: ${text}`)
}

test('an error is a fault, and an interruption ends a fault that waits for ever', async () => {
  assert.deepEqual(await trial(async (_, row) => row.fine('Yes.')), ['ok: Yes.', 'ok: Yes.'])
  const [first] = await trial(async (subject, row) => row.fine(String(await subject.start())))
  assert.equal(first, 'fault: No such server')
  const interruption = new AbortController()
  const forEver = () => {
    interruption.abort()
    return new Promise<never>(() => {})
  }
  assert.deepEqual(await trial(forEver, interruption.signal), [])
})

test('clients end with their fault, also when it throws', { timeout: 120_000 }, async () => {
  const started: ReturnType<typeof startClients>[] = []
  await trial(async (subject) => {
    const target = { host: '127.0.0.1', port: 1 }
    started.push(subject.clients({ target, requests: [{ target: '/' }], count: 2, onSeen: () => {} }))
    throw new Error('No such thing.')
  })
  await Promise.all(started.map(({ ended }) => ended))
  assert.equal(started.length, 6) // each fault is tried three times
})

test('an app is a line, and what is not in order in it', () => {
  const [fine, found] = [new Row('abort').fine('It lives.'), new Row('stop').found('lost', '5 of 5 requests')]
  assert.equal(formatApp('node/hello', [fine]), 'node/hello: 0 faults, 1 row tried\n')
  assert.match(
    formatApp('njs/hello', [fine, found]),
    /^njs\/hello: 1 fault, 2 rows tried\nstop +lost +5 of 5 requests\n$/,
  )
})
