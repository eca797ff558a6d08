import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDue } from '@startgrid/cli/test-run.ts'
import { dockerObstacle } from '@startgrid/grid/compose-project.ts'
import { docker } from '../../../src/environments/docker/command.ts'
import { Engine, type Labelled } from '../../../src/environments/docker/engine.ts'
import { beginRun, endRun, removeLeftovers } from '../../../src/environments/docker/run.ts'
import type { RaceResult } from '../../../src/model/result.ts'
import { validateResult } from '../../../src/model/result-file.ts'
import { testIf } from '../../fixtures/test-if.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(os.tmpdir(), 'startgrid-docker-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

const skip = (await dockerObstacle()) ?? false

async function bench(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: DIRECTORY,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { pid: child.pid, code: code as number | null, stdout, stderr }
}

/** The containers and networks that a process has in Docker. */
async function ownedBy(pid: number | undefined): Promise<Labelled[]> {
  const engine = await Engine.connect()
  const label = `startgrid.bench.owner=${pid}@${os.hostname()}`
  const owned = [...(await engine.containers(label)), ...(await engine.networks(label))]
  engine.close()
  return owned
}

describe('with an engine', { skip }, () => {
  // It takes half a minute: one in three short runs has it.
  testIf(isDue('a race of containers', 3))(
    'a race of containers has rates, CPU of app, proxy and generator, and memory; nothing is left',
    async () => {
      const args = ['--docker', '--only', 'node/hello', '--heats', '1', '--slices', '1', '--slice', '100ms']
      const { pid, stderr } = await bench([...args, '--warmup', '250ms', '--keep-voided', '--output', 'out'])
      const result = JSON.parse(readFileSync(join(DIRECTORY, 'out/result.json'), 'utf8')) as RaceResult
      assert.deepEqual(validateResult(result), [])
      assert.equal(result.mode, 'docker', stderr)
      assert.match(result.machine.os, /^Docker Engine \d/)
      assert.match(result.nginx?.version ?? '', /^1\./)
      assert.deepEqual(
        result.conformance.map(({ cell, differences }) => [cell, differences]),
        ['node/hello direct', 'node/hello nginx', 'node/hello#2 direct', 'node/hello#2 nginx'].map((id) => [
          id,
          [],
        ]),
      )
      const [heat] = result.heats
      assert.deepEqual(heat?.failures, [])
      assert.deepEqual(
        heat?.launches.map(({ app, peakMemory }) => [app, (peakMemory ?? 0) > 5e6]),
        [
          ['node/hello', true],
          ['node/hello#2', true],
          ['nginx', true],
        ],
      )
      for (const { cell, requests, checked, errors, cpuSeconds } of heat?.slices ?? []) {
        assert.deepEqual(errors, {}, cell)
        assert.ok(requests > 0 && checked > 0, cell)
        assert.ok((cpuSeconds.app ?? 0) > 0 && (cpuSeconds.generator ?? 0) > 0, cell)
        assert.equal((cpuSeconds.proxy ?? 0) > 0, cell.endsWith(' nginx'), cell)
      }
      assert.deepEqual(await ownedBy(pid), [])
    },
  )

  test('what a killed run left is removed, what a living one has is not', async () => {
    const engine = await Engine.connect()
    const run = await beginRun()
    assert.equal((await ownedBy(process.pid)).length, 1)
    const dead = `startgrid-bench-test-${process.pid}`
    const owner = `startgrid.bench.owner=${2 ** 22 + 1}@${os.hostname()}`
    await docker(['network', 'create', '--label', 'startgrid.bench=dead', '--label', owner, dead])
    const elsewhere = `${dead}-elsewhere`
    const other = 'startgrid.bench.owner=1@another.machine.invalid'
    await docker(['network', 'create', '--label', other, elsewhere])
    try {
      await removeLeftovers(engine)
      const names = (await docker(['network', 'ls', '--format', '{{.Name}}'])).split('\n')
      assert.deepEqual(
        [run.name, dead, elsewhere].map((name) => names.includes(name)),
        [true, false, true],
      )
    } finally {
      await docker(['network', 'rm', elsewhere])
      await endRun(engine, run)
    }
    engine.close()
    assert.deepEqual(await ownedBy(process.pid), [])
  })
})

test('without an engine, or without Docker, it is one sentence and exit code 2', async () => {
  const args = ['--docker', '--only', 'node/hello', '--output', 'none']
  const silent = await bench(args, { DOCKER_HOST: `unix://${DIRECTORY}/no.sock` })
  const absent = await bench(args, { PATH: DIRECTORY })
  for (const { code, stderr } of [silent, absent]) {
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^--docker cannot be used here\. [^\n]+\.\n$/)
  }
  assert.match(absent.stderr, /install Docker/)
})
