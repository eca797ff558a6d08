import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { compareSamples, type ProcessAccount, type Sample, takeSample } from '../src/accounts.ts'
import { type Cores, canPin, readCpus } from '../src/cores.ts'

const APP = 100
const PROXY = 200
const GENERATOR = 300

/** @param threads seconds on a CPU and seconds of waiting of each, the main one first: `0.7/0.3 0.2/0.5` */
function account(pid: number, threads: string): [number, ProcessAccount] {
  const accounts = threads.split(' ').map((thread, index) => {
    const [onCpu = 0, waiting = 0] = thread.split('/').map((seconds) => Number(seconds) * 1e9)
    return [String(pid + index), { onCpu, waiting }] as const
  })
  return [pid, new Map(accounts)]
}

const NOTHING: Sample = {
  at: 1000,
  app: new Map(),
  proxy: new Map(),
  generator: new Map(),
  serverCores: 1,
  serverCore: 10,
  generatorCore: 20,
  uncertainty: 0,
  isApart: false,
  interrupts: 0,
}

/** One second later. */
const compare = (after: Partial<Sample>, before: Partial<Sample> = {}, pollingSeconds = 0) =>
  compareSamples({ ...NOTHING, ...before }, { ...NOTHING, at: 2000, ...after }, pollingSeconds)

const near = (actual: number | null, expected: number) =>
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`)

test('who waits for own threads, or for the other server, is not disturbed; what is left of the longest wait counts', () => {
  const waitOf = (app: string, proxy: string) =>
    compare({ app: new Map([account(APP, app)]), proxy: new Map([account(PROXY, proxy)]) }).disturbance
      .serverWait
  near(waitOf('0.7/0.3 0.2/0.5 0.1/0.6', '0/0'), 0)
  near(waitOf('0.6/0.4', '0.4/0.6'), 0)
  // App and proxy wait for the same neighbour.
  near(waitOf('0.5/0.45', '0.25/0.7'), 0.2)
})

test('only what came between two samples counts: a new thread had all of it, one that ended nothing', () => {
  const before = { app: new Map([account(APP, '5/2 7/0')]) }
  const threads = [account(APP, '5.9/2.1'), account(APP + 2, '0.05/0')].flatMap(([, own]) => [...own])
  const found = compare({ app: new Map([[APP, new Map(threads)]]) }, before)
  near(found.cpuSeconds.app, 0.95)
  near(found.disturbance.serverWait, 0.05)
})

test('a generator that polls also tells of stops of its core, which no other account shows', () => {
  const waitOf = (cpu: number, waited: number, pollingSeconds?: number, isApart = false) =>
    compare({ generator: new Map([account(GENERATOR, `${cpu}/${waited}`)]), isApart }, {}, pollingSeconds)
      .disturbance.generatorWait
  near(waitOf(0.7, 0.3), 0.3)
  near(waitOf(0.6, 0, 0.95), 0.35)
  near(waitOf(0.6, 0.4, 0.95), 0.4)
  near(waitOf(0.99, 0.01, 0.95), 0.01)
  near(waitOf(0.6, 0), 0)
  // What it lacks may be the time of interrupts.
  near(waitOf(0.6, 0.1, 0.95, true), 0.1)
})

test('of several generators the one whose core was taken most counts; the first has the core of the generator', () => {
  const generator = new Map([account(GENERATOR, '0.9/0.1'), account(GENERATOR + 1, '0.6/0.4')])
  const { disturbance } = compare({ generator, generatorCore: 20.95 })
  near(disturbance.generatorWait, 0.4)
  near(disturbance.generatorForeign, 0.05)
})

test('foreign CPU is what the core certainly worked without us, unknown if the core or our own part is', () => {
  const ours = { app: new Map([account(APP, '0.6/0')]), proxy: new Map([account(PROXY, '0.2/0')]) }
  const foreign = (after: Partial<Sample>) => compare({ ...ours, ...after }).disturbance.serverForeign
  near(foreign({ serverCore: 10.9 }), 0.1)
  near(foreign({ serverCore: 10.9, uncertainty: 0.04 }), 0.06)
  near(foreign({ serverCore: 10.75 }), 0)
  near(foreign({ serverCore: 12.9 }), 1)
  // On two cores, of which a neighbour used 0.3 s, the servers used 0.8 s.
  near(foreign({ serverCore: 11.1, serverCores: 2 }), 0.15)
  assert.equal(foreign({ serverCore: undefined }), null)
  assert.equal(foreign({ app: undefined, serverCore: 11 }), null)
})

const [first, second] = readCpus().map(({ number }) => number)
const cores: Cores | undefined =
  first !== undefined && second !== undefined && canPin() ? { server: first, generator: second } : undefined
const skip = cores === undefined && 'it takes two cores and taskset'

test('of servers with two cores both are read: a neighbour on the second one is seen', { skip }, () => {
  const { server, generator } = cores ?? assert.fail()
  // Without their siblings, for all are used.
  const generators = readCpus().map(({ number }) => number)
  const read = (servers: number[]) =>
    takeSample({ app: [], proxy: [], generator: [], cores: { server, servers, generator, generators } })
  const [one, other, both] = [[server], [generator], [server, generator]].map(read)
  assert.deepEqual([one?.serverCores, both?.serverCores], [1, 2])
  const apart = (one?.serverCore ?? Number.NaN) + (other?.serverCore ?? Number.NaN)
  // What a core has worked only grows.
  assert.ok((both?.serverCore ?? 0) >= apart && (other?.serverCore ?? 0) > 0, `${both?.serverCore}, ${apart}`)
})

test('interrupts that the kernel keeps apart belong to those who caused them, in proportion', () => {
  const ours = { app: new Map([account(APP, '0.6/0')]), proxy: new Map([account(PROXY, '0.2/0')]) }
  const { cpuSeconds } = compare({ ...ours, interrupts: 0.16 })
  near(cpuSeconds.app, 0.72)
  near(cpuSeconds.proxy, 0.24)
  assert.deepEqual(compare({ interrupts: 0.16 }).cpuSeconds, { app: 0, proxy: 0, generator: 0 })
})

test('threads and children that have ended count if ticks certainly say so', () => {
  const app = new Map([account(APP, '0.5/0')])
  const cpuOf = (appTicks: number | undefined) => compare({ app, appTicks }, { appTicks: 3 }).cpuSeconds.app
  near(cpuOf(3.515), 0.5)
  near(cpuOf(3.8), 0.8)
  near(cpuOf(undefined), 0.5)
})

const started: ChildProcess[] = []
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** A process that does nothing but use a core. */
async function burn(cpu: number): Promise<number> {
  const args = ['-c', String(cpu), 'sh', '-c', 'echo ready; while :; do :; done']
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

/** It gets half of a core, or a third if there is one more: only on a crowded machine it may not run at all for that long. */
const LEAST = 0.25

test('a neighbour is seen twice on each core: who is there waits for it, and it uses the core', {
  skip,
}, async () => {
  const { server, generator } = cores ?? assert.fail()
  const [app = 0, own = 0] = await Promise.all([server, generator, server, generator].map(burn))
  const subject = { app: [app], proxy: [], generator: [own], cores: { server, generator } }
  for (let tries = 1; ; tries++) {
    const before = takeSample(subject)
    await sleep(400)
    const { disturbance, cpuSeconds } = compareSamples(before, takeSample(subject))
    const parts = Object.values(disturbance).filter((part) => part !== null)
    if (tries < 5 && parts.some((part) => part <= LEAST)) continue
    assert.ok(parts.length >= 2 && parts.every((part) => part > LEAST), JSON.stringify(disturbance))
    return assert.ok((cpuSeconds.app ?? 0) > 0)
  }
})

test('threads and children that have ended count as well', { skip }, async () => {
  const burning =
    'const used = () => { const { user, system } = process.cpuUsage(); return user + system }; const end = used() + 3e5; while (used() < end);'
  const program =
    `const { Worker } = require('node:worker_threads'); const { spawnSync } = require('node:child_process'); ` +
    `process.stdin.once('data', () => new Worker(${JSON.stringify(burning)}, { eval: true }).once('exit', () => ` +
    `{ spawnSync(process.execPath, ['-e', ${JSON.stringify(burning)}]); console.log('done') })); console.log('ready')`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  started.push(child)
  await once(child.stdout, 'data')
  const subject = { app: [child.pid ?? 0], proxy: [], generator: [], cores: null }
  const before = takeSample(subject)
  child.stdin.write('go')
  await once(child.stdout, 'data')
  const { app } = compareSamples(before, takeSample(subject)).cpuSeconds
  assert.ok((app ?? 0) > 0.5, `${app} s`)
})

test('what is not known is null; without cores of their own nobody can be told apart, but waiting can', {
  skip,
}, () => {
  const compareNow = (subject: Parameters<typeof takeSample>[0]) =>
    compareSamples(takeSample(subject), takeSample(subject))
  const gone = 2 ** 22 + 1 // above any process id
  const unknown = compareNow({ app: undefined, proxy: [gone], generator: [gone], cores: null })
  assert.deepEqual(unknown.cpuSeconds, { app: null, proxy: null, generator: null })
  assert.deepEqual(new Set(Object.values(unknown.disturbance)), new Set([null]))
  const { disturbance } = compareNow({ app: [process.pid], proxy: [], generator: [], cores: null })
  assert.deepEqual([disturbance.serverForeign, disturbance.generatorForeign], [null, null])
  assert.notEqual(disturbance.serverWait, null)
  const { app, appTicks = 0 } = takeSample({ app: [process.pid], proxy: [], generator: [], cores: null })
  assert.ok((app?.get(process.pid)?.size ?? 0) > 1, 'every thread has an account')
  const { user, system } = process.cpuUsage()
  assert.ok(Math.abs(appTicks - (user + system) / 1e6) < 0.1, `${appTicks} s in ticks`)
})
