import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseTarget } from '@startgrid/cli/arguments.ts'
import { RANDOM_INPUTS } from '@startgrid/cli/test-run.ts'
import { checkConformance, formatReport, type Role } from '@startgrid/conformance'

const BUN = fileURLToPath(new URL('../../node_modules/.bin/bun', import.meta.url))

/** What `protect` does on Node, before the app: no handler sees these requests as they were sent. */
const NEEDS_PROTECT = [
  'two Host headers are 400',
  'two Host headers are 400 with every method',
  'a Host that is not a host name is 400',
  'a fragment in the target is 400',
  'HTTP/1.0 gets a response and a close, with and without Host',
]

/** Bun sets this on a response to HEAD. */
const EMPTY = 'content-length: 0'

for (const role of ['hello', 'status'] satisfies Role[]) {
  test(`hono/${role} keeps the contract under Bun.serve, but for what its runtime does`, async () => {
    using child = spawn(BUN, ['fixtures/hono-on-bun.ts', role], {
      cwd: import.meta.dirname,
      env: { ...process.env, PORT: '0', LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const { value = '{}' } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
    child.stdout.resume() // its log
    const target = parseTarget(JSON.parse(value).address)
    const report = await checkConformance({ role, target, runs: RANDOM_INPUTS })
    const unexpected = report.differences.filter(
      ({ check, received }) => !NEEDS_PROTECT.includes(check) && received !== EMPTY,
    )
    deepEqual(unexpected, [], formatReport(report))
    ok(report.passed.length > 40, formatReport(report))
    child.kill('SIGTERM')
    equal((await exited)[0], 0)
  })
}
