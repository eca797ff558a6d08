import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os, { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { findCoreClock, readCpuTime, readInterrupts } from '../src/core-clock.ts'
import { chooseCores, readCpus } from '../src/cores.ts'
import { busyWarnings, guestWarnings, watchSteal } from '../src/machine.ts'
import { readVersions } from '../src/provenance.ts'

/** A copy of what a kernel shows in /proc and /sys: files by their paths, removed at the end of the test. */
function createTree(
  files: Readonly<Record<string, string | Buffer>>,
  context: { after(clean: () => void): void },
): string {
  const root = mkdtempSync(join(tmpdir(), 'startgrid-tree-'))
  context.after(() => rmSync(root, { recursive: true }))
  writeTree(root, files)
  return root
}

function writeTree(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

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
  const isTold = (files: Record<string, string>) => guestWarnings(createTree(files, t)).length === 1
  const firmware = (vendor: string, product: string) => ({
    'sys/class/dmi/id/sys_vendor': `${vendor}\n`,
    'sys/class/dmi/id/product_name': `${product}\n`,
  })
  const flag = { 'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n' }
  const real = { ...firmware('Dell Inc.', 'XPS 13'), 'proc/cpuinfo': 'flags\t\t: fpu vmx lahf_lm\n' }
  const told = [firmware('QEMU', 'Standard PC'), flag, real, {}].map(isTold)
  assert.deepEqual(told, [true, true, false, false])
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

interface Machine {
  allowed: string
  /** By CPU, those that share its physical core. */
  siblings?: string[]
  /** `cpufreq/cpuinfo_max_freq` in kHz, and `cpu_capacity`, by CPU. */
  frequencies?: number[]
  capacities?: number[]
}

/** The CPUs, read from the files by which a kernel describes them. */
function cpusOf({ allowed, siblings = [], frequencies = [], capacities = [] }: Machine, t: TestContext) {
  const perCpu = (file: string, values: readonly (string | number)[]) =>
    values.map((value, number) => [`sys/devices/system/cpu/cpu${number}/${file}`, `${value}\n`])
  const files = [
    ['proc/self/status', `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\n`],
    ...perCpu('topology/thread_siblings_list', siblings),
    ...perCpu('cpufreq/cpuinfo_max_freq', frequencies),
    ...perCpu('cpu_capacity', capacities),
  ]
  return readCpus(createTree(Object.fromEntries(files), t))
}

/** The cores of servers and generator, and what is said of them. */
function choose(machine: Machine, t: TestContext) {
  const warnings: string[] = []
  const cores = chooseCores(1, ({ text }) => warnings.push(text), cpusOf(machine, t))
  return [cores?.server, cores?.generator, ...warnings]
}

test('plain cores: the servers get the first, the generator the last that it may use', (t) => {
  assert.deepEqual(choose({ allowed: '0-1', siblings: ['0', '1'] }, t), [0, 1])
  assert.deepEqual(choose({ allowed: '4,6-7' }, t), [4, 7], 'a kernel that tells nothing about its cores')
})

test('threads of one physical core are not two cores; where there is no other, that is said', (t) => {
  assert.deepEqual(choose({ allowed: '0-3', siblings: ['0,2', '1,3', '0,2', '1,3'] }, t), [0, 3])
  assert.deepEqual(choose({ allowed: '0-2', siblings: ['0,2', '1,3', '0,2'] }, t), [0, 1])
  const [server, generator, warning] = choose({ allowed: '0-1', siblings: ['0-1', '0-1'] }, t)
  assert.deepEqual([server, generator], [0, 1])
  assert.match(String(warning), /^CPUs 0 and 1 are two threads of one physical core: .*\.$/)
})

test('efficient cores are avoided, by whatever the kernel tells of them', (t) => {
  const hybrid = { allowed: '0-7', siblings: ['0-1', '0-1', '2-3', '2-3', '4', '5', '6', '7'] }
  const values = [4, 4, 4, 4, 2, 2, 2, 2]
  assert.deepEqual(choose({ ...hybrid, frequencies: values }, t), [0, 3])
  assert.deepEqual(choose({ ...hybrid, capacities: values }, t), [0, 3])
  assert.deepEqual(
    choose({ allowed: '0-7', capacities: [400, 400, 400, 400, 800, 800, 1024, 1000] }, t),
    [6, 7],
  )
})

test('with one fast core the servers have it, and the difference is told; the best slower core beats a thread of the same one', (t) => {
  const [server, generator, warning] = choose({ allowed: '0-3', frequencies: [2000, 4000, 3000, 2000] }, t)
  assert.deepEqual([server, generator], [1, 2])
  assert.match(
    String(warning),
    /^The generator has CPU 2, which is 25 % slower than CPU 1 of the servers, .*\.$/,
  )
  const machine = { allowed: '0-2', siblings: ['0,2', '1', '0,2'], capacities: [1024, 512, 1024] }
  assert.deepEqual(choose(machine, t).slice(0, 2), [0, 1])
})

test('a single CPU cannot be shared out', (t) => {
  for (const allowed of ['3', '']) {
    const [server, , warning] = choose({ allowed }, t)
    assert.equal(server, undefined)
    assert.match(String(warning), /^Only one core can be used: .*\.$/)
  }
})

test('servers that use several cores get a generator for each two, as far as there are cores', (t) => {
  const chosen = (wanted: number, machine: Machine) => {
    const cores = chooseCores(wanted, () => {}, cpusOf(machine, t))
    return `${cores?.servers} by ${cores?.generators}`
  }
  for (const wanted of [1, 4]) assert.equal(chosen(wanted, { allowed: '0-1' }), '0 by 1')
  assert.equal(chosen(1, { allowed: '0-7' }), '0 by 7')
  assert.equal(chosen(4, { allowed: '0-7' }), '0,1,2,3 by 7,6')
  assert.equal(chosen(7, { allowed: '0-7' }), '0,1,2,3,4,5,6 by 7')
  const pairs = ['0,4', '1,5', '2,6', '3,7']
  assert.equal(chosen(8, { allowed: '0-7', siblings: [...pairs, ...pairs] }), '0,1,2 by 7')
})

// user nice system idle iowait irq softirq steal guest guest_nice
const STAT =
  'cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1000 20 300 5000 6 70 80 90 0 0\ncpu1 2000 0 0 0 0 0 0 0 0 0\ncpu10 1 1 1 1 1 1 1 1 1 1\n'

// Version 15; the seventh figure after the name is nanoseconds of running tasks.
const SCHEDSTAT =
  'version 15\ntimestamp 4295\ncpu0 0 0 11 12 13 14 2500000000 16 17\ndomain0 3 1 2\ncpu1 0 0 0 0 0 0 1500000000 0 0\n'

const config = (apart: boolean) =>
  gzipSync(
    `CONFIG_HZ=250\n${apart ? 'CONFIG_IRQ_TIME_ACCOUNTING=y' : '# CONFIG_IRQ_TIME_ACCOUNTING is not set'}\n`,
  )

const GROUP = 'sys/fs/cgroup/cpu,cpuacct/'

test('the root control group tells the nanoseconds of every core', (t) => {
  const files = {
    [`${GROUP}cpuacct.usage_percpu`]: '1500000000 2000000000 \n',
    [`${GROUP}release_agent`]: '',
  }
  const clock = findCoreClock(createTree({ ...files, 'proc/schedstat': SCHEDSTAT, 'proc/stat': STAT }, t))
  assert.deepEqual([clock.uncertainty, clock.isApart], [0, false])
  assert.deepEqual([clock.read([0]), clock.read([0, 1]), clock.read([2])], [1.5, 3.5, undefined])
})

test('schedstat tells nanoseconds of running tasks; interrupts that the kernel keeps apart are taken off, at their precision', (t) => {
  const clockOf = (apart: boolean) =>
    findCoreClock(
      createTree({ 'proc/schedstat': SCHEDSTAT, 'proc/stat': STAT, 'proc/config.gz': config(apart) }, t),
    )
  const clock = clockOf(false)
  assert.deepEqual([clock.uncertainty, clock.isApart], [0, false])
  assert.deepEqual([clock.read([0]), clock.read([1, 0]), clock.read([7])], [2.5, 4, undefined])
  const apart = clockOf(true)
  assert.deepEqual([apart.uncertainty, apart.isApart, apart.read([0])], [0.01, true, 2.5 - 1.5])
})

test('where no nanoseconds are told there is no clock; inside a container, the group counts only that', (t) => {
  for (const files of [{}, { [`${GROUP}cpuacct.usage_percpu`]: '1 2\n' }]) {
    const clock = findCoreClock(createTree({ ...files, 'proc/stat': STAT }, t))
    assert.deepEqual([clock.read([0]), clock.uncertainty], [undefined, Number.POSITIVE_INFINITY])
  }
})

test('the columns of /proc/stat are seconds, cpu1 is not cpu10', (t) => {
  const root = createTree({ 'proc/stat': STAT }, t)
  const times = (['irq', 'softirq', 'steal'] as const).map((way) => readCpuTime([0], way, root)?.toFixed(3))
  assert.deepEqual(times, ['0.700', '0.800', '0.900'])
  assert.deepEqual([readInterrupts([0], root).toFixed(3), readInterrupts([1], root)], ['1.500', 0])
  const offline = createTree({ 'proc/stat': STAT.replace(/^cpu1 .*\n/m, '') }, t)
  assert.equal(readCpuTime([1], 'irq', offline), undefined, 'cpu10 is another one')
})
