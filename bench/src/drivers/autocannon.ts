import { cpuSeconds, waitSeconds } from '@startgrid/machine/processes.ts'
import { type AutocannonProcess, startAutocannon } from './autocannon-process.ts'
import {
  type Capabilities,
  type Driver,
  type GeneratorAccounts,
  occurred,
  rateOf,
  type SliceLoad,
  type SlicePlan,
  urlFor,
} from './driver.ts'
import { ForeignDriver } from './foreign-driver.ts'

/**
 * autocannon (https://github.com/mcollina/autocannon), through its programmatic interface, in one process that stays warm.
 *
 * It drops the requests in flight at the end, which is why a slice must be long. Its own check of bodies is not used: it makes
 * text of every piece of a body apart, so a character that lies in two pieces would be an error.
 */
export class AutocannonDriver extends ForeignDriver implements Driver {
  readonly name = 'autocannon'
  readonly capabilities: Capabilities = {
    openLoop: false,
    unixSockets: false,
    checks: 'before',
    minSliceMs: 500,
    warmupMs: 2000,
  }
  #process: AutocannonProcess | undefined

  pids(): number[] {
    return this.#process === undefined ? [] : [this.#process.pid]
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const { connections, durationMs, timeoutMs = 5000, expect, signal } = plan
    const url = urlFor('autocannon', plan)
    const status = expect?.status ?? 200
    const running = await this.start()
    try {
      const { value, accounts } = await accountFor(running.pid, () =>
        running.run({ url, connections, durationMs, timeoutMs, status }, signal),
      )
      return {
        ...value,
        rate: rateOf(value),
        checked: 0,
        errors: occurred(value.errors),
        generator: accounts,
      }
    } catch (error) {
      this.#process = undefined
      await running.stop()
      throw error
    }
  }

  /** Starts the process, unless it runs. @throws {LoadError} if that is impossible */
  async start(): Promise<AutocannonProcess> {
    this.#process ??= await startAutocannon(this.cpu)
    return this.#process
  }

  override async stop(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    await Promise.all([running?.stop(), super.stop()])
  }
}

/** What a process that lives longer than `work` used while it ran. */
export async function accountFor<Value>(
  pid: number,
  work: () => Promise<Value>,
): Promise<{ value: Value; accounts: GeneratorAccounts }> {
  const before = { cpu: cpuSeconds([pid]), wait: waitSeconds([pid]) }
  const value = await work()
  const accounts = {
    cpuSeconds: since(before.cpu, cpuSeconds([pid])),
    waitSeconds: since(before.wait, waitSeconds([pid])),
  }
  return { value, accounts }
}

function since(before: number | undefined, after: number | undefined): number | null {
  return before === undefined || after === undefined ? null : after - before
}
