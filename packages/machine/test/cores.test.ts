import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { chooseCores, parseCpuList, readCpus } from '../src/cores.ts'
import { createTree } from './kernel-tree.ts'

interface Machine {
  allowed: string
  online?: string
  /** Lists of CPUs that share a physical core. */
  siblings?: string[]
  /** `cpufreq/cpuinfo_max_freq` in kHz, and `cpu_capacity`, by CPU. */
  frequencies?: number[]
  capacities?: number[]
}

/** The CPUs, read from the files by which a kernel describes them. */
function cpusOf(machine: Machine, t: TestContext) {
  const { allowed, online = allowed, siblings = [], frequencies = [], capacities = [] } = machine
  const cpu = (number: number, file: string) => `sys/devices/system/cpu/cpu${number}/${file}`
  const files = [
    ['proc/self/status', `Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t${allowed}\n`],
    ['sys/devices/system/cpu/online', `${online}\n`],
    ...siblings.flatMap((list) =>
      parseCpuList(list).map((number) => [cpu(number, 'topology/thread_siblings_list'), `${list}\n`]),
    ),
    ...frequencies.map((kHz, number) => [cpu(number, 'cpufreq/cpuinfo_max_freq'), `${kHz}\n`]),
    ...capacities.map((capacity, number) => [cpu(number, 'cpu_capacity'), `${capacity}\n`]),
  ]
  return readCpus(createTree(Object.fromEntries(files), t))
}

function choose(machine: Machine, t: TestContext) {
  const warnings: string[] = []
  const cores = chooseCores(1, ({ text }) => warnings.push(text), cpusOf(machine, t))
  return { cores: cores && [cores.server, cores.generator], warnings }
}

test('two plain cores: the servers get the first, the generator the last', (t) => {
  const expected = { cores: [0, 1], warnings: [] }
  assert.deepEqual(choose({ allowed: '0-1', siblings: ['0', '1'] }, t), expected)
  assert.deepEqual(choose({ allowed: '0-1' }, t), expected, 'a kernel that tells nothing about its cores')
  assert.deepEqual(choose({ allowed: '4,6-7', online: '0-7' }, t).cores, [4, 7])
})

test('threads of one physical core are not two cores', (t) => {
  const interleaved = { allowed: '0-3', siblings: ['0,2', '1,3'] }
  assert.deepEqual(choose(interleaved, t), { cores: [0, 3], warnings: [] })
  const neighbours = { allowed: '0-2', online: '0-3', siblings: ['0,2', '1,3'] }
  assert.deepEqual(choose(neighbours, t), { cores: [0, 1], warnings: [] })
})

test('where there is one physical core only, that is said', (t) => {
  const { cores, warnings } = choose({ allowed: '0-1', siblings: ['0-1'] }, t)
  assert.deepEqual(cores, [0, 1])
  assert.match(warnings.join(), /^CPUs 0 and 1 are two threads of one physical core: .*\.$/)
})

test('efficient cores are avoided, by whatever the kernel tells of them', (t) => {
  const hybrid = { allowed: '0-7', siblings: ['0-1', '2-3', '4', '5', '6', '7'] }
  const expected = { cores: [0, 3], warnings: [] }
  const pCores = [4, 4, 4, 4]
  assert.deepEqual(choose({ ...hybrid, frequencies: [...pCores, 3, 3, 3, 3] }, t), expected)
  assert.deepEqual(choose({ ...hybrid, capacities: [...pCores, 2, 2, 2, 2] }, t), expected)
  const bigLast = choose({ allowed: '0-7', capacities: [400, 400, 400, 400, 800, 800, 1024, 1000] }, t)
  assert.deepEqual(bigLast.cores, [6, 7])
})

test('cores that differ by a few per cent are alike: the kernel favours some', (t) => {
  const { cores, warnings } = choose({ allowed: '0-3', frequencies: [5000, 5200, 5000, 4900] }, t)
  assert.deepEqual([cores, warnings], [[0, 3], []])
})

test('with one fast core the servers have it, and the difference is told', (t) => {
  const { cores, warnings } = choose({ allowed: '0-2', frequencies: [2000, 4000, 3000] }, t)
  assert.deepEqual(cores, [1, 2])
  assert.match(
    warnings.join(),
    /^The generator has CPU 2, which is 25 % slower than CPU 1 of the servers, .*\.$/,
  )
})

test('a slower core beats a thread of the same one, the best of several', (t) => {
  const machine = { allowed: '0-2', siblings: ['0,2', '1'], capacities: [1024, 512, 1024] }
  const { cores, warnings } = choose(machine, t)
  assert.deepEqual(cores, [0, 1])
  assert.match(warnings.join(), /^The generator has CPU 1, which is 50 % slower than CPU 0 /)
  assert.deepEqual(choose({ allowed: '0-3', frequencies: [4000, 2000, 3000, 2000] }, t).cores, [0, 2])
})

test('the fastest core of the machine is the measure even if it is not allowed', (t) => {
  const machine = { allowed: '1-2', online: '0-2', frequencies: [4000, 2000, 2000] }
  const speeds = cpusOf(machine, t).map(({ speed }) => speed)
  assert.deepEqual(speeds, [0.5, 0.5])
  assert.deepEqual(choose(machine, t), { cores: [1, 2], warnings: [] })
})

test('a single CPU cannot be shared out', (t) => {
  for (const allowed of ['3', '']) {
    const { cores, warnings } = choose({ allowed, online: '0-3' }, t)
    assert.equal(cores, null)
    assert.match(warnings.join(), /^Only one core can be used: .*\.$/)
  }
})

test('servers that use several cores get a generator for each two, as far as there are cores', (t) => {
  const chosen = (wanted: number, machine: Machine) => {
    const cores = chooseCores(wanted, () => {}, cpusOf(machine, t))
    return [cores?.servers, cores?.generators]
  }
  const two = { allowed: '0-1' }
  for (const wanted of [1, 4]) assert.deepEqual(chosen(wanted, two), [[0], [1]])
  const eight = { allowed: '0-7' }
  assert.deepEqual(chosen(1, eight), [[0], [7]])
  assert.deepEqual(chosen(4, eight), [
    [0, 1, 2, 3],
    [7, 6],
  ])
  assert.deepEqual(chosen(7, eight), [[0, 1, 2, 3, 4, 5, 6], [7]])
  const threads = { allowed: '0-7', siblings: ['0,4', '1,5', '2,6', '3,7'] }
  assert.deepEqual(chosen(8, threads), [[0, 1, 2], [7]])
})

test('this machine gives two different cores, or a warning', () => {
  const warnings: unknown[] = []
  const cores = chooseCores(1, (warning) => warnings.push(warning))
  if (cores === null) assert.equal(warnings.length, 1)
  else assert.notEqual(cores.server, cores.generator)
})

test('a list of CPUs as the kernel writes it', () => {
  assert.deepEqual(parseCpuList('0-3,8,10-11'), [0, 1, 2, 3, 8, 10, 11])
  assert.deepEqual(parseCpuList('5'), [5])
  assert.deepEqual(parseCpuList(''), [])
})
