import { createInterface } from 'node:readline'
import type { Cluster, Running } from '@startgrid/grid/kubernetes-cluster.ts'
import type { ContainerAccount, FromAgent, NodeView, ToAgent } from '@startgrid/machine/agent/messages.ts'
import { AGENT_COMMAND } from './pods.ts'

/** The agent in a pod: packages/machine/src/agent/program.ts. It gets one question at a time. */
export class Agent {
  readonly #running: Running
  readonly #lines: AsyncIterator<string>
  #last: Promise<unknown> = Promise.resolve()

  private constructor(running: Running) {
    this.#running = running
    this.#lines = createInterface(running.stdout)[Symbol.asyncIterator]()
  }

  /** @param container of the pod, with the image of the generator; @throws {Error} if it does not start */
  static async start(cluster: Cluster, pod: string, container: string): Promise<Agent> {
    const agent = new Agent(await cluster.start(pod, container, AGENT_COMMAND))
    await agent.#read()
    return agent
  }

  /** @param ids of containers by name; @returns names of those of which it sees no process */
  async watch(ids: Readonly<Record<string, string>>): Promise<string[]> {
    return this.#ask({ watch: ids }, 'unseen')
  }

  async begin(app: string, proxy: string | null): Promise<void> {
    await this.#ask({ begin: { app, proxy } }, 'begun')
  }

  async end(): Promise<ContainerAccount> {
    return this.#ask({ end: true }, 'account')
  }

  /** Highest resident bytes of each container; null if it has ended. */
  async memory(containers: readonly string[]): Promise<Record<string, number | null>> {
    return this.#ask({ memory: containers }, 'memory')
  }

  async look(): Promise<NodeView> {
    return this.#ask({ look: true }, 'node')
  }

  /** Milliseconds of opening a connection, so often. */
  async connect(host: string, port: number, times: number): Promise<number[]> {
    return this.#ask({ connect: { host, port, times } }, 'connected')
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#running.stdin.end()
    await this.#running.ended
  }

  async #ask<Key extends Responses>(question: ToAgent, key: Key): Promise<ResponseOf<Key>> {
    const response = this.#last.then(() => {
      this.#running.stdin.write(`${JSON.stringify(question)}\n`)
      return this.#read()
    })
    this.#last = response.catch(() => {})
    const message: Partial<Record<Responses, unknown>> = await response
    if (key in message) return message[key] as ResponseOf<Key>
    throw new Error(`The agent beside the servers failed: ${message.error ?? 'no reason is known'}`)
  }

  async #read(): Promise<FromAgent> {
    const { value, done } = await this.#lines.next()
    if (done !== true) return JSON.parse(value) as FromAgent
    const reason = (await this.#running.stderr).trim().split('\n').at(-1)
    throw new Error(`The agent beside the servers ended: ${reason || 'no reason is known'}`)
  }
}

type Responses = FromAgent extends infer Each ? (Each extends unknown ? keyof Each : never) : never
type ResponseOf<Key extends string> = Extract<FromAgent, Record<Key, unknown>>[Key &
  keyof Extract<FromAgent, Record<Key, unknown>>]
