import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { type Ended, startNode } from '@startgrid/cli/test-programs.ts'
import { serve } from '@startgrid/shared/testing/app.ts'
import { formatTarget, type Target, targetOf } from '@startgrid/wire/target.ts'
import { generate } from 'selfsigned'
import { findApps } from '../../grid/src/apps.ts'
import { launch } from '../../grid/src/launcher.ts'
import { checkConformance } from '../src/contract/runner.ts'

const CLI = join(import.meta.dirname, '../src/cli.ts')

function run(...args: readonly string[]): Promise<Ended> {
  return startNode([CLI, ...args]).ended
}

async function withApp(use: (target: Target) => Promise<void>, name = 'node/status'): Promise<void> {
  const [app] = findApps(name)
  assert.ok(app)
  const { target, stop } = await launch(app)
  await use(target).finally(() => stop())
}

test('a server that keeps the contract: a closing line and 0', () =>
  withApp(async (target) => {
    const { code, stdout } = await run('status', formatTarget(target))
    assert.match(stdout, /^\d\d checks passed, 0 failed, 0 skipped\n$/)
    assert.equal(code, 0)
  }))

test('a server that does not: a readable list of at most 80 columns, and 1', () =>
  withApp(async (target) => {
    // The routes of another role.
    const { code, stdout } = await run('hello', formatTarget(target))
    assert.equal(code, 1)
    assert.match(stdout, /^x every route responds$/m)
    assert.match(stdout, /^ {2}expected: status 200$/m)
    assert.match(stdout, /^\d+ checks passed, [1-9]\d? failed, 0 skipped$/m)
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
    )
    const some = await run('hello', formatTarget(target), '--only', 'a name is percent')
    assert.match(some.stdout, /^x a name is percent-decoded as UTF-8, once$/m)
    assert.match(some.stdout, /^0 checks passed, 1 failed, 0 skipped$/m)
  }))

test('a policy that is wrong everywhere is told once for pages and once for the rest, whatever its nonces', async () => {
  await using server = await serve((_request, response) => {
    const nonce = randomBytes(16).toString('base64')
    response.setHeader('content-security-policy', `script-src 'nonce-${nonce}'`).end()
  })
  const { stdout } = await run('ssr', server.url, '--only', 'requests at once')
  assert.equal(stdout.match(/'nonce-NONCE'$/gm)?.length, 2, stdout)
})

test('https:// with our own certificate needs --insecure', () =>
  withApp(async (target) => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      algorithm: 'sha256',
      keyType: 'ec',
    })
    const front = createServer({ cert, key }, (socket) => {
      const upstream = connect('socketPath' in target ? { path: target.socketPath } : target)
      pipeline(socket, upstream, socket, () => {})
    })
    await once(front.listen(0, '127.0.0.1'), 'listening')
    const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
    try {
      const { code, stdout, stderr } = await run('status', url, '--insecure', '--only', 'unknown path')
      assert.equal(stderr, '')
      assert.match(stdout, /^[1-9]\d* checks passed, 0 failed/)
      assert.equal(code, 0)
      const refused = await run('status', url)
      assert.equal(refused.code, 2)
      assert.match(
        refused.stderr,
        /^The certificate of https:\S+ is not trusted \(.*--insecure accepts it\.\n$/,
      )
    } finally {
      front.close()
    }
  }))

test('wrong usage is one sentence and 2', async () => {
  const usages: [RegExp, ...string[]][] = [
    [/^Say which role: hello, ssr, status\.\n$/],
    [/^There is no role 'sssr': hello, ssr, status\.\n$/, 'sssr', 'http://127.0.0.1:1'],
    [/^Say where the server is/, 'ssr'],
    [/is not an http:\/\/ or https:\/\/ address/, 'ssr', '127.0.0.1:3000'],
    [/has a path: give only the origin, such as http:\/\/a\./, 'ssr', 'http://a/b'],
    [/^--insecure is for https:/, 'ssr', 'http://127.0.0.1:1', '--insecure'],
    [/^--without is 'x', but must be stream\.\n$/, 'ssr', 'http://127.0.0.1:1', '--without', 'x'],
    [/^pnpm conformance --kubernetes is gone: /, 'ssr', 'http://127.0.0.1:1', '--kubernetes'],
    [/^Nothing listens at http:\/\/127\.0\.0\.1:1 /, 'hello', 'http://127.0.0.1:1'],
  ]
  const runs = await Promise.all(usages.map(([, ...args]) => run(...args)))
  for (const [index, { code, stderr }] of runs.entries()) {
    assert.equal(code, 2)
    assert.match(stderr, usages[index]?.[0] ?? /never/)
  }
})

test('a server that does not respond ends the run soon', async () => {
  await using server = await serve(() => {})
  const target = targetOf(new URL(server.url))
  const report = await checkConformance({ target, role: 'hello', timeoutMs: 500 })
  assert.equal(report.passed.length, 0)
  assert.equal(report.failed.length, 1)
  assert.equal(report.skipped[0]?.reason, 'the server no longer responds')
})

test('a run can be stopped', () =>
  withApp(async (target) => {
    const run = checkConformance({ target, role: 'hello', signal: AbortSignal.timeout(100) })
    await assert.rejects(run, { name: 'NoResponse', failure: 'aborted' })
  }, 'node/hello'))
