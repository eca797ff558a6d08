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
    const message = await this.#ask({ watch: ids })
    return 'unseen' in message ? message.unseen : refuse(message)
  }

  async begin(app: string, proxy: string | null): Promise<void> {
    const message = await this.#ask({ begin: { app, proxy } })
    if (!('begun' in message)) refuse(message)
  }

  async end(): Promise<ContainerAccount> {
    const message = await this.#ask({ end: true })
    return 'account' in message ? message.account : refuse(message)
  }

  /** Highest resident bytes of each container; null if it has ended. */
  async memory(containers: readonly string[]): Promise<Record<string, number | null>> {
    const message = await this.#ask({ memory: containers })
    return 'memory' in message ? message.memory : refuse(message)
  }

  async look(): Promise<NodeView> {
    const message = await this.#ask({ look: true })
    return 'node' in message ? message.node : refuse(message)
  }

  /** Milliseconds of opening a connection, so often. */
  async connect(host: string, port: number, times: number): Promise<number[]> {
    const message = await this.#ask({ connect: { host, port, times } })
    return 'connected' in message ? message.connected : refuse(message)
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#running.stdin.end()
    await this.#running.ended
  }

  #ask(question: ToAgent): Promise<FromAgent> {
    const response = this.#last.then(() => {
      this.#running.stdin.write(`${JSON.stringify(question)}\n`)
      return this.#read()
    })
    this.#last = response.catch(() => {})
    return response
  }

  async #read(): Promise<FromAgent> {
    const { value, done } = await this.#lines.next()
    if (done !== true) return JSON.parse(value) as FromAgent
    const reason = (await this.#running.stderr).trim().split('\n').at(-1)
    throw new Error(`The agent beside the servers ended: ${reason || 'no reason is known'}`)
  }
}

function refuse(message: FromAgent): never {
  throw new Error(
    `The agent beside the servers failed: ${'error' in message ? message.error : 'no reason is known'}`,
  )
}
