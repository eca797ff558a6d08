import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCoreClock } from '../../src/accounts/core-clock.ts'
import {
  type CpuSeconds,
  compareSamples,
  type Disturbance,
  type Subject,
  takeSample,
} from '../../src/accounts/sample.ts'
import { type Cores, canPin } from '../../src/cores.ts'
import { readCpus } from '../../src/cpus.ts'

/** What neighbours of this test do is measured too, and explains what we wait for: so figures are compared with each other. */
const SLACK = 0.12

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

async function measure(subject: Partial<Subject>): Promise<{
  cpuSeconds: CpuSeconds
  disturbance: { [Part in keyof Disturbance]: number }
  seconds: number
}> {
  const whole = { app: [], proxy: [], generator: [process.pid], cores: cores ?? null, ...subject }
  const before = takeSample(whole)
  await sleep(MEASURED_MS)
  const after = takeSample(whole)
  const { cpuSeconds, disturbance } = compareSamples(before, after)
  const { serverWait, generatorWait, serverForeign, generatorForeign } = disturbance
  assert.ok(
    serverWait !== null && generatorWait !== null && serverForeign !== null && generatorForeign !== null,
  )
  return {
    cpuSeconds,
    disturbance: { serverWait, generatorWait, serverForeign, generatorForeign },
    seconds: (after.at - before.at) / 1000,
  }
}

/** A check of real processes: it must hold once in a few tries. */
function check(name: string, run: () => Promise<void>): void {
  test(name, async () => {
    for (let tries = 1; tries < TRIES; tries++) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof assert.AssertionError)) throw error
      } finally {
        await endAll()
      }
    }
    await run()
  })
}

describe('what others took', { skip }, () => {
  const { server, generator } = cores ?? { server: 0, generator: 0 }

  check('a server that has its core for itself waits for nobody', async () => {
    const pid = await burn(server)
    const { cpuSeconds, disturbance, seconds } = await measure({ app: [pid] })
    const { serverWait, serverForeign } = disturbance
    assert.ok(serverWait < serverForeign + SLACK, JSON.stringify(disturbance))
    const used = (cpuSeconds.app ?? 0) / seconds
    assert.ok(Math.abs(used + serverForeign - 1) < SLACK, `${used} and ${serverForeign} of the core`)
    assert.deepEqual(cpuSeconds.proxy, 0)
  })

  check('server and proxy wait for each other on their core: that is no disturbance', async () => {
    const [app, proxy] = [await burn(server), await burn(server)]
    const { cpuSeconds, disturbance, seconds } = await measure({ app: [app], proxy: [proxy] })
    assert.ok(disturbance.serverWait < disturbance.serverForeign + SLACK, JSON.stringify(disturbance))
    const parts = [cpuSeconds.app ?? 0, cpuSeconds.proxy ?? 0].map((part) => part / seconds)
    assert.ok(Math.min(...parts) > LEAST / 5, `${parts}: both ran, so each waited`)
  })

  check(
    'a neighbour on the core of the servers is seen twice: they wait for it, and it uses their core',
    async () => {
      const app = await burn(server)
      await burn(server)
      const { disturbance } = await measure({ app: [app] })
      assert.ok(disturbance.serverWait > LEAST, JSON.stringify(disturbance))
      assert.ok(disturbance.serverForeign > LEAST, JSON.stringify(disturbance))
    },
  )

  check('a neighbour on the core of the generator is seen there', async () => {
    const own = await burn(generator)
    await burn(generator)
    const { disturbance } = await measure({ generator: [own] })
    assert.ok(disturbance.generatorWait > LEAST, JSON.stringify(disturbance))
    assert.ok(disturbance.generatorForeign > LEAST, JSON.stringify(disturbance))
  })
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
