import type { LoadResult } from '@startgrid/loadgen'
import { accountFor } from './accounts.ts'
import {
  type Capabilities,
  type Checked,
  type Driver,
  occurred,
  type SliceLoad,
  type SlicePlan,
} from './driver.ts'
import { LastingGenerator, type Offer } from './generator.ts'

/** packages/loadgen: the default. */
export class StartgridDriver implements Driver {
  readonly name = 'startgrid'
  readonly version: string
  readonly capabilities: Capabilities = {
    openLoop: true,
    unixSockets: true,
    checks: 'inside',
    minSliceMs: 1,
    warmupMs: 1000,
  }
  readonly #generator: LastingGenerator

  /** @param version of this checkout; @param cpu the only core that it may use */
  constructor(version: string, cpu: number | undefined) {
    this.version = version
    this.#generator = new LastingGenerator(cpu)
  }

  pids(): number[] {
    return this.#generator.pids()
  }

  async check(): Promise<Checked> {
    return { checked: 0, errors: {} }
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const { pid } = await this.#generator.start()
    const { value, accounts } = await accountFor(pid, () => this.offer(plan))
    const { requests, seconds, rate, checked, errors, latency, cpu } = value
    return {
      requests,
      seconds,
      rate,
      checked,
      errors: occurred(errors),
      latencySeconds: { mean: latency.mean / 1000, p50: latency.p50 / 1000, p99: latency.p99 / 1000 },
      generator: { ...accounts, cpuSeconds: cpu.seconds },
    }
  }

  /**
   * Offers whatever load the generator can, open loops as well, and returns all that it measured. An aborted one keeps what was
   * measured.
   * @throws {LoadError} as `run`
   */
  offer(plan: Offer): Promise<LoadResult> {
    return this.#generator.offer(plan)
  }

  /** Starts the process, unless it runs. @throws {LoadError} if that is impossible */
  async start(): Promise<void> {
    await this.#generator.start()
  }

  stop(): Promise<void> {
    return this.#generator.stop()
  }
}
