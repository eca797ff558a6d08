import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { chooseCores, readCpus } from '../src/cores.ts'
import { createTree } from './kernel-tree.ts'

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
