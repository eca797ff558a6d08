import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { busyWarnings, guestWarnings, inspectMachine, watchSteal } from '../src/state.ts'
import { createTree, writeTree } from './kernel-tree.ts'

test('others that use more than 10 % are told; else what ran until just now', () => {
  const said = (...state: Parameters<typeof busyWarnings>) => busyWarnings(...state).map(({ text }) => text)
  assert.deepEqual(said({ share: 0.1, load: 1, cores: 2 }), [])
  assert.match(
    said({ share: 0.11, load: 5, cores: 2 }).join(),
    /^Other programs use 11 % of this machine: .*\.$/,
  )
  assert.match(
    said({ share: 0.02, load: 1.1, cores: 2 }).join(),
    /^The load average was 1\.10 on 2 cores .*\.$/,
  )
  assert.deepEqual(said({ share: undefined, load: 0, cores: 2 }), [])
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
  assert.match(named({ 'proc/device-tree/hypervisor/compatible': 'linux,kvm\n' }), /virtual machine/)
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

test('this machine can be inspected, and an abort says nothing', async () => {
  const kinds = (await inspectMachine(new AbortController().signal)).map(({ kind }) => kind)
  assert.equal(new Set(kinds).size, kinds.length)
  assert.deepEqual(await inspectMachine(AbortSignal.abort()), [])
})
