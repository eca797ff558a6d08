import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { busyWarnings, clockWarnings, guestWarnings, inspectMachine, watchSteal } from '../src/state.ts'
import { createTree, writeTree } from './kernel-tree.ts'

const CPU = 'sys/devices/system/cpu'

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

test('a governor that follows the load is told', (t) => {
  const governed = (governor: string) =>
    clockWarnings(createTree({ [`${CPU}/cpu0/cpufreq/scaling_governor`]: `${governor}\n` }, t))
  assert.match(governed('powersave')[0]?.text ?? '', /governor is powersave: .* cpupower /)
  assert.deepEqual(governed('performance'), [])
  assert.deepEqual(clockWarnings(createTree({}, t)), [], 'most virtual machines have none')
})

test('boost is told, by the file of either driver', (t) => {
  const boosts = (file: string, content: string) =>
    clockWarnings(createTree({ [`${CPU}/${file}`]: content }, t)).some(({ text }) => /boost/.test(text))
  assert.equal(boosts('cpufreq/boost', '1\n'), true)
  assert.equal(boosts('cpufreq/boost', '0\n'), false)
  assert.equal(boosts('intel_pstate/no_turbo', '0\n'), true)
  assert.equal(boosts('intel_pstate/no_turbo', '1\n'), false)
})

test('a virtual machine is named by its firmware, its kernel or its CPU', (t) => {
  const named = (files: Record<string, string>) => guestWarnings(createTree(files, t))[0]?.text ?? ''
  const firmware = {
    'sys/class/dmi/id/sys_vendor': 'QEMU\n',
    'sys/class/dmi/id/product_name': 'Standard PC\n',
  }
  assert.match(named(firmware), /^This is a virtual machine \(QEMU Standard PC\)/)
  const windows = { 'proc/sys/kernel/osrelease': '6.6.0-microsoft-standard-WSL2\n' }
  assert.match(named(windows), /\(WSL\)/)
  const flag = { 'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n' }
  assert.match(named(flag), /\(its CPU says so\)/)
  assert.match(named({ 'proc/device-tree/hypervisor/compatible': 'linux,kvm\n' }), /virtual machine/)
})

test('real hardware is not called a virtual machine', (t) => {
  const files = {
    'sys/class/dmi/id/sys_vendor': 'Dell Inc.\n',
    'sys/class/dmi/id/product_name': 'XPS 13\n',
    'proc/cpuinfo': 'flags\t\t: fpu vmx lahf_lm\n',
  }
  assert.deepEqual(guestWarnings(createTree(files, t)), [])
  assert.deepEqual(guestWarnings(createTree({}, t)), [])
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
