import { HistogramLogWriter } from 'hdr-histogram-js'
import { LoadError } from '../engine/load-error.ts'
import { decode } from './histogram.ts'
import type { LoadResult } from './result.ts'

const NANOSECONDS = 1e6

type Distributions = Pick<LoadResult, 'histograms' | 'seconds'>

/**
 * The text of a file that tools for HDR histograms read, by the ending of its name: `.hlog`, the log format 1.3 with one line per
 * tag (latency, service, lag; values in nanoseconds, maxima in milliseconds); `.hgrm`, the percentiles of the latency in milliseconds,
 * for http://hdrhistogram.github.io/HdrHistogram/plotFiles.html.
 * @param startedAt milliseconds since 1970; the log counts its seconds from there
 * @throws {LoadError} if the name has another ending
 */
export function histogramFile(name: string, result: Distributions, startedAt: number): string {
  requireHistogramName(name)
  return name.endsWith('.hlog') ? histogramLog(result, startedAt) : percentileText(result)
}

/** @throws {LoadError} if the name has neither ending */
export function requireHistogramName(name: string): void {
  if (/\.(?:hlog|hgrm)$/.test(name)) return
  throw new LoadError(`The histogram file ${name} must end in .hlog (log) or .hgrm (percentiles).`)
}

function histogramLog({ histograms, seconds }: Distributions, startedAt: number): string {
  let text = ''
  const writer = new HistogramLogWriter((line) => {
    text += line
  })
  const start = startedAt / 1000
  writer.outputComment('[Logged with Startgrid loadgen]')
  writer.outputLogFormatVersion()
  // Not `outputStartTime`, which leaves an empty line that other readers do not expect.
  writer.outputComment(
    `[StartTime: ${start.toFixed(3)} (seconds since epoch), ${new Date(startedAt).toISOString()}]`,
  )
  writer.outputLegend()
  for (const [tag, encoded] of Object.entries(histograms)) {
    if (encoded === null) continue
    const histogram = decode(encoded)
    histogram.tag = tag
    writer.outputIntervalHistogram(histogram, 0, seconds, NANOSECONDS)
  }
  return text
}

function percentileText({ histograms }: Distributions): string {
  return decode(histograms.latency).outputPercentileDistribution(5, NANOSECONDS)
}
