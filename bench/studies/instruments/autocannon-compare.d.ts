/** The used part of https://github.com/mcollina/autocannon-compare, which has no types of its own. */
declare module 'autocannon-compare' {
  interface Sample {
    mean: number
    stddev: number
    total: number
  }

  interface Run {
    requests: Sample
    throughput: Sample
    latency: Sample
    duration: number
  }

  export interface Compared {
    /** Whether the throughputs differ by at most 5 %, or by more without significance at 10 %. */
    equal: boolean
    requests: { pValue: number }
  }

  export default function compare(first: Run, second: Run): Compared
}
