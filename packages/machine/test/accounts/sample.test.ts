import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCoreClock } from '../../src/accounts/core-clock.ts'
import { compareSamples, takeSample } from '../../src/accounts/sample.ts'
import { type Cores, canPin, readCpus } from '../../src/cores.ts'

/** Asked of the neighbour that a test starts: it gets half of a core, or a third if there is one more. */
const LEAST = 0.25

const MEASURED_MS = 400

/** On a crowded machine a process may not run at all for that long; the kernel accounts a wait when it is over. */
const TRIES = 5

const [first, second] = readCpus().map(({ number }) => number)
const cores: Cores | undefined =
  first !== undefined && second !== undefined && canPin() ? { server: first, generator: second } : undefined
const skip = cores && findCoreClock() ? false : 'it takes two cores, taskset and the accounts of Linux'

const started: ChildProcess[] = []
after(endAll)

/** A process that does nothing but use a core. */
async function burn(cpu: number): Promise<number> {
  const script = 'echo ready; while :; do :; done'
  const child = spawn('taskset', ['-c', String(cpu), 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

async function endAll(): Promise<void> {
  for (const child of started.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

test('a neighbour is seen twice on each core: who is there waits for it, and it uses the core', {
  skip,
}, async () => {
  const { server, generator } = cores ?? { server: 0, generator: 0 }
  const [app = 0, own = 0] = await Promise.all([server, generator, server, generator].map(burn))
  const subject = { app: [app], proxy: [], generator: [own], cores: cores ?? null }
  for (let tries = 1; ; tries++) {
    const before = takeSample(subject)
    await sleep(MEASURED_MS)
    const { disturbance, cpuSeconds } = compareSamples(before, takeSample(subject))
    const parts = Object.values(disturbance)
    if (tries < TRIES && parts.some((part) => part <= LEAST)) continue
    for (const part of parts) assert.ok(part > LEAST, JSON.stringify(disturbance))
    assert.ok((cpuSeconds.app ?? 0) > 0)
    return endAll()
  }
})

describe('what is not known is null', () => {
  test('threads and children that have ended count as well', { skip }, async () => {
    const burn = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);'
    const program =
      `const { Worker } = require('node:worker_threads'); const { spawnSync } = require('node:child_process'); ` +
      `process.stdin.once('data', () => new Worker(${JSON.stringify(burn)}, { eval: true }).once('exit', () => ` +
      `{ spawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}]); console.log('done') })); console.log('ready')`
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

  test('processes that are unknown or have ended', () => {
    const gone = 2 ** 22 + 1 // above any process id
    const unknown = { app: undefined, proxy: [gone], generator: [gone], cores: null }
    const { cpuSeconds, disturbance } = compareSamples(takeSample(unknown), takeSample(unknown))
    assert.deepEqual(cpuSeconds, { app: null, proxy: null, generator: null })
    assert.deepEqual(new Set(Object.values(disturbance)), new Set([null]))
  })

  test('without cores of their own nobody can be told apart, but waiting can', { skip }, async () => {
    const subject = { app: [process.pid], proxy: [], generator: [], cores: null }
    const { disturbance } = compareSamples(takeSample(subject), takeSample(subject))
    assert.deepEqual([disturbance.serverForeign, disturbance.generatorForeign], [null, null])
    assert.notEqual(disturbance.serverWait, null)
  })
})
