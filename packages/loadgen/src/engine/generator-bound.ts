import { summarise } from '../report/histogram.ts'
import type { Measurement } from './measurement.ts'

/** If less than this part of the due requests was sent in time, the load was not offered. */
const OFFERED = 0.99
/** A generator that is busy for more than this part of its time is at its limit. */
const BUSY = 0.98
/** Schedule lag at p99 in milliseconds that never matters. */
const HARMLESS_LAG_MS = 1
/** A higher lag may be at most this part of the latency at p99. */
const LAG_PART = 0.1
/** Waiting for a core for more than this part of the time is a likely cause. */
const WAITED = 0.01

/**
 * Whether an open-loop load measured the generator instead of the server.
 * @returns why, as a clause without the full stop; null if the load was offered as asked, or if requests had to wait for the
 * server to free a connection
 */
export function whyGeneratorBound(measurement: Measurement): string | null {
  const why = symptom(measurement)
  const { waitSeconds } = measurement.loop
  if (why === null || waitSeconds === null || waitSeconds < WAITED * measurement.seconds) return why
  return `${why}; it waited ${waitSeconds.toFixed(2)} s for a core that others used`
}

function symptom({ arrivals, latency, loop }: Measurement): string | null {
  if (arrivals === null || arrivals.due === 0) return null
  const { due, sent, late } = arrivals
  if (late > (1 - OFFERED) * due)
    return `it came to ${percent(late / due)} of the requests only after the time in which they were due`
  if (sent < OFFERED * due && loop.busy >= BUSY)
    return `it sent only ${percent(sent / due)} of the requests in time and was busy for ${percent(loop.busy)} of it`
  return whyLate(summarise(arrivals.lag).p99, summarise(latency).p99)
}

function whyLate(lagMs: number, latencyMs: number): string | null {
  if (lagMs <= HARMLESS_LAG_MS || lagMs <= LAG_PART * latencyMs) return null
  return `it was late by ${lagMs.toPrecision(3)} ms at p99, where the latency is ${latencyMs.toPrecision(3)} ms`
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`
}
