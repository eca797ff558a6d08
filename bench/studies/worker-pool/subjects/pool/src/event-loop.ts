import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How long the event loop kept others waiting, in milliseconds. */
export interface LoopDelay {
  p50: number
  p99: number
  max: number
}

const RESOLUTION_MS = 10

/** Node counts the interval of its own timer in, Bun does not. */
const OFFSET_MS = process.versions.bun === undefined ? RESOLUTION_MS : 0

/** Watches the event loop of this process. @returns what tells the delays since it was last asked */
export function watchEventLoop(): () => LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  const toMs = (nanoseconds: number) =>
    Math.max(0, Math.round(nanoseconds / 1_000 - OFFSET_MS * 1_000) / 1_000)
  return () => {
    const delay = {
      p50: toMs(histogram.percentile(50)),
      p99: toMs(histogram.percentile(99)),
      max: toMs(histogram.max),
    }
    histogram.reset()
    return delay
  }
}
