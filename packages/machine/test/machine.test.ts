import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { busyWarnings, guestWarnings, watchSteal } from '../src/machine.ts'
import { readVersions } from '../src/provenance.ts'
import { createTree, writeTree } from './kernel-tree.ts'

test('the versions are exact', () => {
  const { node, bun, lockfile, packages, startgrid } = readVersions()
  assert.equal(node, process.versions.node)
  assert.match(lockfile, /^[0-9a-f]{16}$/)
  assert.match(startgrid, /\S/)
  for (const name of ['fastify', '@hono/node-server', 'react', 'pino']) assert.ok(name in packages, name)
  for (const [name, version] of Object.entries(packages)) assert.match(version, /^\d+\.\d+\.\d+/, name)
  assert.match(bun, /^\d+\.\d+\.\d+/)
})

test('others that use more than 10 % are told', () => {
  assert.deepEqual(busyWarnings(0.1), [])
  assert.match(busyWarnings(0.11)[0]?.text ?? '', /^Other programs use 11 % of this machine: .*\.$/)
})

test('a virtual machine is told by its firmware or its CPU, and real hardware is none', (t) => {
  const named = (files: Record<string, string>) => guestWarnings(createTree(files, t))[0]?.text ?? ''
  const firmware = (vendor: string, product: string) => ({
    'sys/class/dmi/id/sys_vendor': `${vendor}\n`,
    'sys/class/dmi/id/product_name': `${product}\n`,
  })
  assert.match(named(firmware('QEMU', 'Standard PC')), /^This is a virtual machine \(QEMU Standard PC\)/)
  const flag = { 'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n' }
  assert.match(named(flag), /\(its CPU says so\)/)
  const real = { ...firmware('Dell Inc.', 'XPS 13'), 'proc/cpuinfo': 'flags\t\t: fpu vmx lahf_lm\n' }
  assert.deepEqual([named(real), named({})], ['', ''])
})

test('what the host takes is a part of all CPU time', (t) => {
  const cpus = os.cpus().map((_, index) => index)
  const stat = (ticks: number) => ({
    'proc/stat': cpus.map((cpu) => `cpu${cpu} 0 0 0 0 0 0 0 ${ticks} 0 0\n`).join(''),
  })
  const root = createTree(stat(100), t)
  const stolen = watchSteal(root)
  writeTree(root, stat(150))
  assert.equal(stolen(10), 0.05)
  assert.equal(watchSteal(createTree({}, t))(10), null, 'where nothing is told')
})
