import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { isDue } from '@startgrid/cli/test-run.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { type Launch, launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { RaceResult } from '../../../src/model/result.ts'
import { validateResult } from '../../../src/model/result-file.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'
import { testIf } from '../../fixtures/test-if.ts'

/** `pnpm bench --target` on apps that this file starts, and that must run on when it is over. */

const CLI = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-target-'))
const { run, stop } = startCommandLine(DIRECTORY)
after(() => {
  stop()
  rmSync(DIRECTORY, { recursive: true })
})

const SHORT = ['--quick', '--heats', '2', '--output', 'out']

async function bench(...args: string[]) {
  const place = mkdtempSync(join(DIRECTORY, 'run-'))
  const read = () => {
    const result: unknown = JSON.parse(readFileSync(join(place, 'out/result.json'), 'utf8'))
    assert.deepEqual(validateResult(result), [])
    return result as RaceResult
  }
  return { ...(await startNode([CLI, ...args], { cwd: place }).ended), read }
}

function findApp(name: string) {
  const app = APPS.find((one) => one.name === name)
  assert.ok(app)
  return app
}

describe('an app that runs', () => {
  let app: Launch
  before(async () => {
    app = await launch(findApp('fastify/status'), { env: NEVER_SHED })
  })
  after(() => app.stop())

  test('is measured as it is, and runs on', async () => {
    const { address, pid } = app.ready
    const { code, stdout, stderr, read } = await bench('--target', address, '--role', 'status', ...SHORT)
    assert.ok(code === 0 || code === 1, stderr)
    const { mode, target, nginx, cells, conformance, heats, analysis, warnings, finishedAt } = read()
    assert.deepEqual([mode, target, nginx], ['target', { origin: address, absent: [] }, null])
    assert.deepEqual(
      cells.map(({ id, workload }) => [id, workload]),
      [['target/status direct', 'GET /_/status']],
    )
    assert.deepEqual(
      conformance.map(({ differences, remembered }) => [differences, remembered]),
      [[[], false]],
    )
    assert.deepEqual(
      heats.map(({ launches, failures }) => [launches, failures]),
      [
        [[], []],
        [[], []],
      ],
    )
    const [first, second] = heats
    const rest = Date.parse(second?.startedAt ?? '') - Date.parse(first?.startedAt ?? '')
    assert.ok(second && first && (second.slices[0]?.at ?? 0) >= 1.9, `a rest before the second heat, ${rest}`)
    for (const { cpuSeconds, disturbance, checked, errors } of heats.flatMap(({ slices }) => slices)) {
      assert.deepEqual([cpuSeconds.app, cpuSeconds.proxy], [null, null])
      assert.deepEqual([disturbance.serverWait, disturbance.serverForeign], [null, null])
      assert.deepEqual([checked > 0, errors], [true, {}])
    }
    const [figures] = analysis?.cells ?? []
    assert.ok((figures?.rate?.value ?? 0) > 0 && (figures?.meanLatency ?? 0) > 0)
    assert.deepEqual([figures?.cpu, figures?.peakMemory.app], [null, null])
    const kinds = warnings.map(({ kind }) => kind)
    for (const kind of ['external-server', 'one-launch', 'same-machine'] as const)
      assert.ok(kinds.includes(kind), kind)
    assert.notEqual(finishedAt, null)
    assert.ok(stdout.startsWith(`Rate of ${address}, which already ran, `), stdout)
    assert.equal(app.child.exitCode, null)
    process.kill(pid, 0)
  })

  testIf(isDue('a target in another role', 3))(
    'as another role it is void with its differences',
    async () => {
      const { code, stdout, read } = await bench('--target', app.ready.address, '--role', 'hello', ...SHORT)
      assert.equal(code, 1)
      const { conformance, heats, analysis } = read()
      assert.ok((conformance[0]?.differences.length ?? 0) > 5)
      assert.deepEqual([heats.length, analysis?.cells[0]?.voided], [0, true])
      assert.match(stdout, /^Void by the gate conformance: it breaks the contract: /m)
      assert.match(stdout, /^Not as the contract says, /m)
      assert.match(stdout, /more differences of the contract/)
    },
  )
})

test('a host that does not respond is one sentence before anything is measured', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const { code, stdout, stderr } = await run('--target', `http://127.0.0.1:${port}`, '--role', 'status')
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(
    stderr,
    /^http:\/\/127\.0\.0\.1:\d+ does not respond \(ECONNREFUSED\): start the app there, .*\.\n$/,
  )
})

testIf(isDue('a target that lacks something', 3))('what it lacks is left out if that is said', async () => {
  const app = await launch(findApp('bun/ssr'), { env: NEVER_SHED })
  try {
    const args = ['--target', app.ready.address, '--role', 'ssr', ...SHORT]
    const { read } = await bench(...args, '--without', 'pipelined-stream')
    const { target, conformance } = read()
    assert.deepEqual(target?.absent, ['pipelined-stream'])
    assert.deepEqual(
      conformance.map(({ differences }) => differences),
      [[]],
    )
  } finally {
    await app.stop()
  }
})
