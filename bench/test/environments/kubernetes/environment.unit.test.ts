import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { NAMESPACE } from '@startgrid/grid/kubernetes.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import type { RaceResult } from '../../../src/model/result.ts'
import { validateResult } from '../../../src/model/result-file.ts'

/** A cluster of two nodes with the images and the namespace startgrid (docs/kubernetes.md). */

const CLI = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(os.tmpdir(), 'startgrid-kubernetes-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

const skip =
  process.env.KUBECONFIG === undefined
    ? 'There is no cluster: KUBECONFIG=~/.kube/config pnpm test races in one.'
    : false

const SHORT = '--kubernetes --only node/hello --heats 1 --slices 1 --warmup 250ms --keep-voided'.split(' ')

function start(args: readonly string[]) {
  return spawn(process.execPath, [CLI, ...args], { cwd: DIRECTORY, stdio: ['ignore', 'pipe', 'pipe'] })
}

function podsLeft() {
  return new Cluster(NAMESPACE).podsWith('startgrid.dev/bench')
}

describe('with a cluster', { skip }, () => {
  test('a race of pods has rates, CPU, memory and the nodes; nothing is left', async () => {
    // On a busy machine two generators do not begin together; generator-team.test.ts tries them with clocks of its own.
    const child = start([...SHORT, '--output', 'out'])
    const [, stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
    const result = JSON.parse(readFileSync(join(DIRECTORY, 'out/result.json'), 'utf8')) as RaceResult
    assert.deepEqual(validateResult(result), [])
    assert.equal(result.mode, 'kubernetes', stderr)
    const [servers, generators] = result.cluster?.nodes ?? []
    assert.deepEqual([servers?.role, generators?.role], ['servers', 'generators'])
    assert.notEqual(servers?.name, generators?.name)
    assert.ok((result.cluster?.roundTripMs ?? 0) > 0)
    assert.ok((result.driver.ceiling ?? 0) > 0)
    const [heat] = result.heats
    const slices = heat?.slices.filter(({ phase }) => phase === 'measure') ?? []
    assert.equal(slices.length, 4, JSON.stringify(heat?.failures))
    for (const { cell, requests, errors, cpuSeconds, disturbance } of slices) {
      assert.ok(requests > 0)
      assert.deepEqual(errors, {})
      assert.ok((cpuSeconds.app ?? 0) > 0 && (cpuSeconds.generator ?? 0) > 0)
      assert.equal((cpuSeconds.proxy ?? 0) > 0, cell.endsWith(' nginx'))
      assert.ok(disturbance.serverWait !== null)
      assert.equal(disturbance.serverForeign, null)
    }
    assert.deepEqual(heat?.launches.map(({ app }) => app).sort(), ['nginx', 'node/hello', 'node/hello#2'])
    for (const { peakMemory } of heat?.launches ?? []) assert.ok((peakMemory ?? 0) > 1e6)
    assert.deepEqual(await podsLeft(), [])
  })

  test('what a killed run left is removed by the next run, which says so', async () => {
    const killed = start([...SHORT, '--output', 'killed'])
    while ((await podsLeft()).length === 0) await sleep(200)
    killed.kill('SIGKILL')
    await once(killed, 'close')
    assert.ok((await podsLeft()).length > 0)
    const next = start([...SHORT, '--output', 'next'])
    const [, stderr] = await Promise.all([once(next, 'close'), text(next.stderr)])
    assert.match(stderr, /Removed what a run left that ended without clearing up: \d+ pods? of bench-/)
    assert.deepEqual(await podsLeft(), [])
  })

  test('a missing image, node or namespace is one sentence', async () => {
    for (const [args, expected] of [
      [['--server-node', 'nowhere'], /No node takes the servers: /],
      [
        ['--namespace', 'nowhere'],
        /There is no namespace nowhere: make it with kubectl create namespace nowhere/,
      ],
    ] as const) {
      const child = start([...SHORT, ...args, '--output', 'refused'])
      const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)])
      assert.equal(code, 2, stderr)
      assert.match(stderr, expected)
    }
    assert.deepEqual(await podsLeft(), [])
  })
})
