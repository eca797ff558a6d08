import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { foreignLoad, readMachine } from '../src/machine.ts'
import { readVersions } from '../src/provenance.ts'

test('the machine is described', () => {
  const machine = readMachine()
  assert.equal(machine.cores, os.availableParallelism())
  assert.equal(machine.memoryBytes, os.totalmem())
  assert.ok(machine.kernel.includes(os.release()))
  for (const text of [machine.cpu, machine.os]) assert.match(text, /\S/)
})

test('the versions are exact', () => {
  const { node, bun, lockfile, packages, startgrid } = readVersions()
  assert.equal(node, process.versions.node)
  assert.match(lockfile, /^[0-9a-f]{16}$/)
  assert.match(startgrid, /\S/)
  for (const name of ['fastify', '@hono/node-server', 'react', 'pino']) assert.ok(name in packages, name)
  for (const [name, version] of Object.entries(packages)) assert.match(version, /^\d+\.\d+\.\d+/, name)
  assert.match(bun, /^\d+\.\d+\.\d+/)
})

test('foreign load is a part of all cores, and the wait for it can be cut short', async () => {
  const load = await foreignLoad()
  assert.ok(load !== undefined && load >= 0 && load <= 1, `${load}`)
  await foreignLoad(AbortSignal.abort())
})
