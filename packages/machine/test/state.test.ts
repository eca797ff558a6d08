import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { busyWarnings, clockWarnings, guestWarnings, inspectMachine, watchSteal } from '../src/state.ts'
import { createTree, writeTree } from './kernel-tree.ts'

const CPU = 'sys/devices/system/cpu'

test('others that use more than 10 % are told; else what ran until just now', () => {
  assert.deepEqual(busyWarnings({ share: 0.1, load: 1, cores: 2 }), [])
  assert.deepEqual(busyWarnings({ share: 0.11, load: 5, cores: 2 }), [{ kind: 'busy', share: 0.11 }])
  assert.deepEqual(busyWarnings({ share: 0.02, load: 1.1, cores: 2 }), [
    { kind: 'load-average', load: 1.1, cores: 2 },
  ])
  assert.deepEqual(busyWarnings({ share: undefined, load: 0, cores: 2 }), [])
})

test('a governor that follows the load is told', (t) => {
  const governed = (governor: string) =>
    clockWarnings(createTree({ [`${CPU}/cpu0/cpufreq/scaling_governor`]: `${governor}\n` }, t))
  assert.deepEqual(governed('powersave'), [{ kind: 'governor', governor: 'powersave' }])
  assert.deepEqual(governed('performance'), [])
  assert.deepEqual(clockWarnings(createTree({}, t)), [], 'most virtual machines have none')
})

test('boost is told, by the file of either driver', (t) => {
  const kinds = (file: string, content: string) =>
    clockWarnings(createTree({ [`${CPU}/${file}`]: content }, t)).map(({ kind }) => kind)
  assert.deepEqual(kinds('cpufreq/boost', '1\n'), ['boost'])
  assert.deepEqual(kinds('cpufreq/boost', '0\n'), [])
  assert.deepEqual(kinds('intel_pstate/no_turbo', '0\n'), ['boost'])
  assert.deepEqual(kinds('intel_pstate/no_turbo', '1\n'), [])
})

test('a virtual machine is named by its firmware, its kernel or its CPU', (t) => {
  const named = (files: Record<string, string>) => guestWarnings(createTree(files, t))
  const firmware = {
    'sys/class/dmi/id/sys_vendor': 'QEMU\n',
    'sys/class/dmi/id/product_name': 'Standard PC\n',
  }
  assert.deepEqual(named(firmware), [{ kind: 'virtual-machine', name: 'QEMU Standard PC' }])
  const windows = { 'proc/sys/kernel/osrelease': '6.6.0-microsoft-standard-WSL2\n' }
  assert.deepEqual(named(windows), [{ kind: 'virtual-machine', name: 'WSL' }])
  const flag = { 'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n' }
  assert.deepEqual(named(flag), [{ kind: 'virtual-machine', name: 'its CPU says so' }])
  assert.equal(named({ 'proc/device-tree/hypervisor/compatible': 'linux,kvm\n' }).length, 1)
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

test('what the host takes is told above 1 % of all CPU time', (t) => {
  const cpus = os.cpus().map((_, index) => index)
  const stat = (ticks: number) => ({
    'proc/stat': cpus.map((cpu) => `cpu${cpu} 0 0 0 0 0 0 0 ${ticks} 0 0\n`).join(''),
  })
  const root = createTree(stat(100), t)
  const stolen = watchSteal(root)
  writeTree(root, stat(150))
  assert.deepEqual(stolen(100), [])
  assert.deepEqual(stolen(10), [{ kind: 'steal', share: 0.05 }])
  assert.deepEqual(watchSteal(createTree({}, t))(10), [], 'where nothing is told, nothing is said')
})

test('this machine can be inspected, and an abort says nothing', async () => {
  const kinds = (await inspectMachine(new AbortController().signal)).map(({ kind }) => kind)
  assert.equal(new Set(kinds).size, kinds.length)
  assert.deepEqual(await inspectMachine(AbortSignal.abort()), [])
})
