import { type GeneratorOptions, type LoadResult, percentiles } from '@startgrid/loadgen'
import {
  type Capabilities,
  type Checked,
  type Driver,
  occurred,
  type SliceLoad,
  type SlicePlan,
} from './driver.ts'
import { LastingGenerator } from './generator.ts'

/** packages/loadgen: the default. */
export class StartgridDriver extends LastingGenerator implements Driver {
  readonly name = 'startgrid'
  readonly version: string

  readonly capabilities: Capabilities = { phases: true, minSliceMs: 1, warmupMs: 1000 }

  /** @param version of this checkout; @param options how its process is started */
  constructor(version: string, options: GeneratorOptions) {
    super(options)
    this.version = version
  }

  async check(): Promise<Checked> {
    return { checked: 0, errors: {} }
  }

  async run({ details = false, ...plan }: SlicePlan): Promise<SliceLoad> {
    const hasSeconds = details && plan.durationMs >= LEAST_SECONDS * 1000
    const load = await this.offer({ ...plan, ...(hasSeconds && { seriesMs: 1000 }) })
    const { requests, seconds, rate, checked, errors, latency, cpu, self } = load
    return {
      requests,
      seconds,
      rate,
      checked,
      errors: occurred(errors),
      latencySeconds: { mean: latency.mean / 1000, p50: latency.p50 / 1000, p99: latency.p99 / 1000 },
      ...(details && detailsOf(load)),
      generator: {
        cpuSeconds: cpu.seconds,
        waitSeconds: self.waitSeconds,
        pollingSeconds: seconds,
      },
    }
  }
}

/** Shorter loads have too few whole seconds for a median. */
const LEAST_SECONDS = 3

function detailsOf({
  latency,
  histograms,
  series,
  bytes,
  handshakes,
  requests,
}: LoadResult): Pick<SliceLoad, 'latencySeconds' | 'secondRates' | 'bytes' | 'handshakes'> {
  const [p50 = 0, p975 = 0, p99 = 0] = percentiles(histograms.latency, [50, 97.5, 99]).map((ms) => ms / 1000)
  return {
    latencySeconds: { mean: latency.mean / 1000, p50, p975, p99 },
    ...(requests > 0 && { bytes: bytes / requests }),
    handshakes,
    // The last one holds what was drained after the end.
    secondRates: series.filter(({ seconds }) => seconds >= 0.99).map((one) => one.requests / one.seconds),
  }
}
