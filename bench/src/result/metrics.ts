import { formatMegabytes, formatMicros, formatMs, formatRate } from '@startgrid/cli/numbers.ts'

interface MetricDescription {
  /** In a sentence, and where two systems are compared. */
  name: string
  /** Above its column: short, with its unit. */
  heading: string
  /** Its digits, without the unit. */
  format(value: number): string
  /** A table that is too wide loses the columns with the highest number first. */
  priority: number
  /** A race of commands tells the ratio of each pair of systems. */
  compared?: true
}

const formatSeconds = (seconds: number) => formatMs(seconds * 1000)
const LATENCY = { format: formatSeconds, priority: 3 }
const COMPARED_LATENCY = { format: formatSeconds, priority: 1, compared: true } as const
const MEMORY = { format: formatMegabytes, priority: 3, compared: true } as const

const described = {
  /** Responses per second (of a pool: messages per second). */
  rate: { name: 'requests per second', heading: 'req/s', format: formatRate, priority: 0, compared: true },
  /** The median of the rates of single seconds. */
  'median-rate': { name: 'median rate', heading: 'median req/s', format: formatRate, priority: 5 },
  /** CPU seconds of server and proxy per request. */
  cpu: { name: 'CPU per request', heading: 'CPU µs', format: formatMicros, priority: 0, compared: true },
  /**
   * Seconds from when a request was due to its response's last byte, in open loop at the race's stated rate; of a source's tool, from a request to
   * its response in the closed loop of that tool.
   */
  'mean-latency': { name: 'mean latency', heading: 'mean ms', ...LATENCY },
  'median-latency': { name: 'p50 latency', heading: 'p50 ms', ...COMPARED_LATENCY },
  'p90-latency': { name: 'p90 latency', heading: 'p90 ms', ...LATENCY },
  'p97.5-latency': { name: 'p97.5 latency', heading: 'p97.5 ms', ...LATENCY },
  'p99-latency': { name: 'p99 latency', heading: 'p99 ms', ...COMPARED_LATENCY },
  /** Seconds from the start of the process to its first response. */
  startup: { name: 'start-up', heading: 'start ms', format: formatSeconds, priority: 2, compared: true },
  /** Of a response with its headers. */
  bytes: { name: 'bytes per response', heading: 'bytes', format: formatRate, priority: 4 },
  /** Seconds from a request to that byte of its response's body. */
  'first-byte': { name: 'first byte', heading: 'first byte ms', format: formatSeconds, priority: 0 },
  'last-byte': { name: 'last byte', heading: 'last byte ms', format: formatSeconds, priority: 0 },
  /** Resident bytes at that moment, and the most until the end. */
  'ready-memory': { name: 'memory when ready', heading: 'MB ready', ...MEMORY },
  'peak-memory': { name: 'peak memory', heading: 'MB peak', ...MEMORY },
} satisfies Record<string, MetricDescription>

export type Metric = keyof typeof described

/**
 * What is measured of each launch, and how reports tell it, in the order of their columns. One more is an entry here, and its value in
 * `launchOf` (judge/launches.ts) or of a probe: terminal, Markdown and page then have it.
 */
export const METRICS: Readonly<Record<Metric, MetricDescription>> = described

export const ALL_METRICS = Object.keys(described) as readonly Metric[]

/** What ranks and decides: responses per second, or CPU seconds of server and proxy per request. */
export type MainMetric = Extract<Metric, 'rate' | 'cpu'>

/** Whether it is one of the latencies. */
export function isLatency(metric: Metric): boolean {
  return metric.endsWith('-latency')
}
