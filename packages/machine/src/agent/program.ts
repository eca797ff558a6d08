import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { compareSamples, type Sample, type Subject, takeSample } from '../accounts/sample.ts'
import type { Throttling } from '../accounts/throttling.ts'
import { readCpus } from '../cpus.ts'
import { readMachine } from '../machine.ts'
import { peakMemory, processTree } from '../processes.ts'
import { findContainers, throttlingOf } from './containers.ts'
import type { ContainerAccount, FromAgent, ToAgent } from './messages.ts'

/**
 * A program beside the servers in their pod. It reads the kernel's accounts of their processes before and after a load: what the cluster itself
 * says of a container is seconds old. It does nothing between two questions.
 */

/** The first process of each container that is watched. */
let containers = new Map<string, number>()
let begun: Begun | undefined

interface Begun {
  subject: Subject
  throttling: (Throttling | undefined)[]
  agent: number
  sample: Sample
}

function watch(ids: Readonly<Record<string, string>>): FromAgent {
  containers = findContainers(ids)
  return { unseen: Object.keys(ids).filter((name) => !containers.has(name)) }
}

function begin(app: string, proxy: string | null): FromAgent {
  const subject: Subject = {
    app: pidsOf(app),
    proxy: proxy === null ? [] : (pidsOf(proxy) ?? []),
    generator: [],
    cores: null,
  }
  const throttling = throttlingOfAll(subject)
  const agent = ownSeconds()
  // Last, so that nothing of the above is in it.
  begun = { subject, throttling, agent, sample: takeSample(subject) }
  return { begun: true }
}

function end(): FromAgent {
  if (begun === undefined) return { error: 'No account was begun.' }
  const { subject, throttling, agent, sample: before } = begun
  const after = takeSample(subject)
  begun = undefined
  const { cpuSeconds, disturbance } = compareSamples(before, after)
  const account: ContainerAccount = {
    seconds: (after.at - before.at) / 1000,
    app: cpuSeconds.app,
    proxy: cpuSeconds.proxy,
    serverWait: disturbance.serverWait,
    throttled: difference(throttling, throttlingOfAll(subject)),
    agent: ownSeconds() - agent,
  }
  return { account }
}

/** @returns undefined if the container has ended */
function pidsOf(name: string): number[] | undefined {
  const first = containers.get(name)
  return first === undefined ? undefined : processTree(first)
}

/** Of each container that takes part. */
function throttlingOfAll({ app = [], proxy }: Subject): (Throttling | undefined)[] {
  return [app[0], proxy[0]].flatMap((pid) => (pid === undefined ? [] : [throttlingOf(pid)]))
}

/** Seconds of the container that was stopped for the longest time; null if that is not known of one. */
function difference(
  before: readonly (Throttling | undefined)[],
  after: readonly (Throttling | undefined)[],
): number | null {
  let longest = 0
  for (const [index, one] of before.entries()) {
    const other = after[index]
    if (one === undefined || other === undefined) return null
    longest = Math.max(longest, other.seconds - one.seconds)
  }
  return longest
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

async function measureConnections(host: string, port: number, times: number): Promise<FromAgent> {
  const connected: number[] = []
  for (let n = 0; n < times; n++) {
    const from = performance.now()
    const socket = connect({ host, port })
    await once(socket, 'connect')
    connected.push(performance.now() - from)
    socket.destroy()
  }
  return { connected }
}

async function respond(question: ToAgent): Promise<FromAgent> {
  if ('watch' in question) return watch(question.watch)
  if ('begin' in question) return begin(question.begin.app, question.begin.proxy)
  if ('end' in question) return end()
  if ('look' in question)
    return { node: { machine: readMachine(), cpus: readCpus().map(({ number }) => number) } }
  if ('memory' in question) {
    const peaks = question.memory.map((name) => [name, peakMemory(pidsOf(name)) ?? null] as const)
    return { memory: Object.fromEntries(peaks) }
  }
  const { host, port, times } = question.connect
  return measureConnections(host, port, times)
}

function say(message: FromAgent): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    respond(JSON.parse(line) as ToAgent).then(say, (error: unknown) => say({ error: String(error) }))
  })
  .on('close', () => process.exit())

say({ ready: true })
