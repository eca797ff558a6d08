import { percentiles } from '@startgrid/loadgen'
import { createDriver, createStartgridDriver } from '../../drivers/create.ts'
import { type Checked, type Driver, occurred, type SliceLoad, type SlicePlan } from '../../drivers/driver.ts'
import type { StartgridDriver } from '../../drivers/startgrid.ts'
import type { DriverRecord } from '../../model/result.ts'
import type { StudySlice } from '../../model/study-result.ts'

/** A load with what studies need beside the figures that every driver has. */
export type StudyLoad = Omit<SliceLoad, 'latencySeconds'> &
  Pick<StudySlice, 'latency' | 'secondRates'> & { meanLatency: number }

export type StudyPlan = SlicePlan & {
  /** Load that is offered before and not counted, in milliseconds: so long it takes to open thousands of connections. */
  settleMs: number
}

/** Shorter loads have too few whole seconds for a median. */
const LEAST_SECONDS = 3

/** What offers the loads of a study: Startgrid's generator, and others where a system asks for them. */
export class Generators {
  readonly own: StartgridDriver
  readonly #cpu: number | undefined
  readonly #others = new Map<string, Driver>()

  /** Use `Generators.start`. */
  constructor(own: StartgridDriver, cpu: number | undefined) {
    this.own = own
    this.#cpu = cpu
  }

  /** @param cpu the only core that they may use; @throws {LoadError} if none can be started */
  static async start(cpu: number | undefined): Promise<Generators> {
    return new Generators(await createStartgridDriver({ cpu }), cpu)
  }

  /** @throws {LoadError} with a sentence, if it is not installed */
  async driver(name: DriverRecord['name']): Promise<Driver> {
    if (name === 'startgrid') return this.own
    const driver = this.#others.get(name) ?? (await createDriver(name, { cpu: this.#cpu }))
    this.#others.set(name, driver)
    return driver
  }

  /** Compares answers before the slice, for drivers that cannot do so inside. @throws {LoadError} */
  async check(name: DriverRecord['name'], plan: StudyPlan): Promise<Checked> {
    return (await this.driver(name)).check(plan)
  }

  /** Offers one load. @throws {LoadError} if it cannot be offered */
  async offer(name: DriverRecord['name'], plan: StudyPlan): Promise<StudyLoad> {
    if (name === 'startgrid') return offerOwn(this.own, plan)
    const { latencySeconds, ...load } = await (await this.driver(name)).run(plan)
    const { mean, p50, p99 } = latencySeconds
    return { ...load, meanLatency: mean, latency: { p50, p975: null, p99 }, secondRates: [] }
  }

  async stop(): Promise<void> {
    await Promise.all([this.own, ...this.#others.values()].map((driver) => driver.stop()))
  }
}

async function offerOwn(driver: StartgridDriver, { settleMs, ...plan }: StudyPlan): Promise<StudyLoad> {
  const isLong = plan.durationMs >= LEAST_SECONDS * 1000
  const load = await driver.offer({ ...plan, warmupMs: settleMs, ...(isLong && { seriesMs: 1000 }) })
  const { requests, seconds, rate, checked, errors, latency, histograms, cpu, series } = load
  const [p50 = 0, p975 = 0, p99 = 0] = percentiles(histograms.latency, [50, 97.5, 99]).map((ms) => ms / 1000)
  return {
    requests,
    seconds,
    rate,
    checked,
    errors: occurred(errors),
    meanLatency: latency.mean / 1000,
    latency: { p50, p975, p99 },
    // The last one holds what was drained after the end.
    secondRates: series
      .filter(({ seconds: length }) => length >= 0.99)
      .map((one) => one.requests / one.seconds),
    generator: { cpuSeconds: cpu.seconds, waitSeconds: load.self.waitSeconds },
  }
}
