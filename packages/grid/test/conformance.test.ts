import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '@startgrid/cli/until.ts'
import { checkRfc9112 } from '@startgrid/conformance/rfc9112.ts'
import { checkConformance, formatReport, type Options } from '@startgrid/conformance/runner.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { APPS, type App, findApps } from '../src/apps.ts'
import { launch, NEVER_SHED } from '../src/launcher.ts'
import { type StartedApps, startApps, whyNot } from './started-apps.ts'

/**
 * One test for each app: docs/contract.md, checked from outside, line by line. The test script of each framework runs this in its own
 * folder, without NGINX in front; that of this package runs what stands behind NGINX.
 */
const folder = basename(process.cwd())
if (folder !== 'grid' && !APPS.some(({ framework }) => framework === folder))
  throw new Error(`Run this in the folder of a framework or in packages/grid, not in ${folder}.`)

const BUN = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url))

/** Each is a hundred checks: on a busy machine that takes njs, which interprets its page, minutes. */
const timeout = 600_000

// Of status, only the route is not that of hello: apps.test.ts asks it.
for (const app of APPS.filter(({ framework, role }) => framework === folder && role !== 'status'))
  test(`${app.name} keeps the contract`, {
    timeout,
    skip: app.runtime === 'nginx' && whyNot('njs'),
  }, async () => {
    const running = await launch(app, { env: { ...NEVER_SHED, LOG_LEVEL: 'info' } })
    try {
      await conforms(app, { target: running.target, log: running.output })
    } finally {
      await running.stop()
    }
  })

if (folder === 'grid') {
  // One framework is always tried.
  testBehindNginx([...findApps('fastify/hello'), ...findApps('fastify/ssr')], 'nginx-tls')
  describe('full: every app', () => {
    for (const topology of ['nginx', 'nginx-tls'] as const) testBehindNginx(APPS, topology)
  })
  for (const runtime of ['bun', 'deno'] as const) testOnRuntime(runtime)
  testInImage()
}

/** Deno neither reads nor closes a connection of which a body was read in part, as Hono's `bodyLimit()` does. */
const LEFT_BY_DENO = 'a chunked body over the limit is refused or left unread, and is no request'

/** The apps that have a server for another runtime. */
function testOnRuntime(runtime: 'bun' | 'deno'): void {
  const has = ({ directory }: App) => existsSync(`${directory}/src/server.${runtime}.ts`)
  for (const app of APPS.filter((one) => one.role !== 'ssr' && has(one)))
    test(`full: ${app.name} on ${runtime} keeps the contract, and stops with 0`, { timeout }, async (t) => {
      const found = runtime === 'bun' ? BUN : findDeno()
      if (found === undefined) return t.skip('npm has no Deno for this machine, or cannot be reached')
      const { scripts } = JSON.parse(readFileSync(`${app.directory}/package.json`, 'utf8'))
      const words: string[] = scripts[`start:${runtime}`].split(' ').slice('exec bun'.split(' ').length)
      const env = { ...NEVER_SHED, LOG_LEVEL: 'info' }
      const running = await launch(app, { program: [found, ...words], env })
      const { differences } = await checkConformance({ ...app, target: running.target, log: running.output })
      assert.equal(await running.stop(), 0)
      assert.deepEqual(
        differences.filter(({ check }) => runtime === 'bun' || check !== LEFT_BY_DENO),
        [],
      )
    })
}

/** Only these tests need it, and it has 90 MB. */
function findDeno(): string | undefined {
  const words = [
    'exec',
    '--yes',
    '--package=deno@2.9.6',
    '--',
    'deno',
    'eval',
    'console.log(Deno.execPath())',
  ]
  const { status, stdout } = spawnSync('npm', words, { encoding: 'utf8', timeout })
  return status === 0 ? stdout.trim() : undefined
}

/** What the README of njs says: its configuration as it is, in the official image. */
function testInImage(): void {
  test('full: njs/hello keeps the contract in the official image', { timeout }, async (t) => {
    const found = spawnSync('docker', ['image', 'inspect', 'nginx:1.30'])
    if (found.status !== 0) return t.skip('There is no image nginx:1.30: docker pull nginx:1.30')
    const [app] = findApps('njs/hello')
    assert.ok(app)
    const target = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    const [command = ''] = /docker run .*/.exec(readFileSync(`${app.directory}/README.md`, 'utf8')) ?? []
    const own = command.replace('run', 'run --detach').replace(':3000:', `:${target.port}:`)
    const container = execFileSync('sh', ['-c', own], { cwd: app.directory, encoding: 'utf8' }).trim()
    try {
      const isReady = () => fetch(`http://127.0.0.1:${target.port}/readyz`).then(({ ok }) => ok)
      await until('it is not ready', () => isReady().catch(() => false))
      await conforms(app, { target })
    } finally {
      spawnSync('docker', ['stop', container])
    }
  })
}

function testBehindNginx(apps: readonly App[], topology: 'nginx' | 'nginx-tls'): void {
  describe(`behind ${topology}`, { skip: whyNot(topology) }, () => {
    let started: StartedApps
    before(async () => {
      started = await startApps(apps, topology)
    })
    after(() => started?.stop())

    for (const [index, app] of apps.entries())
      test(`${app.name} keeps the contract`, { timeout }, async () => {
        const target = started.targets[index]
        assert.ok(target)
        await conforms(app, { target, compressed: true })
        // All roles of a framework have the same parser in front.
        if (app.role === 'hello') assert.deepEqual((await checkRfc9112(target)).findings, [])
      })
  })
}

/** @throws {AssertionError} with all that differs */
async function conforms({ role, absent }: App, options: Omit<Options, 'role'>): Promise<void> {
  const report = await checkConformance({ role, absent, ...options })
  assert.deepEqual(report.differences, [], formatReport(report))
}
