import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkRfc9112 } from '@startgrid/conformance/rfc9112.ts'
import { checkConformance, formatReport, type Options } from '@startgrid/conformance/runner.ts'
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

/** Each is a hundred checks: on a busy machine that takes njs, which interprets its page, minutes. */
const timeout = 600_000

// Of status, only the route is not that of hello, and it has a test in each app.
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
