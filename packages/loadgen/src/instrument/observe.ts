import { equal } from 'node:assert/strict'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { startGenerator } from '../engine/generator.ts'
import type { LoadPlan } from '../engine/options.ts'
import { type LoadResult, sumErrors } from '../report/result.ts'
import { watchWaiting } from './check.ts'
import type { Did } from './faults/fault-process.ts'
import type { FaultServer } from './faults/fault-server.ts'

/** One load as the generator reports it and as the server saw it. */
export interface Observed {
  readonly result: LoadResult
  readonly did: Did
  /** Milliseconds that generator and server were ready to run but had no core. */
  readonly waitedMs: number
}

/**
 * Loads a server from a generator of its own.
 * @throws {AssertionError} if requests failed, or are not reported exactly once
 */
export async function observe(
  start: () => Promise<FaultServer>,
  plan: Omit<LoadPlan, 'target' | 'path'>,
): Promise<Observed> {
  await using server = await start()
  const generator = await startGenerator()
  try {
    const waited = watchWaiting(server, generator)
    const result = await generator.run({ target: server.target, path: '/', ...plan })
    const waitedMs = waited()
    const did = await server.did()
    equal(sumErrors(result.errors), 0, 'requests failed')
    // Those of a warm-up are not in the result.
    if (plan.warmupMs === undefined)
      equal(result.requests, did.responses, 'requests and responses differ in number')
    return { result, did, waitedMs }
  } finally {
    await generator.stop()
  }
}

/** Read by the library that others use, not by our own code. @param part 0 to 1 @returns milliseconds */
export function readHistogram(encoded: string | null, part: number): number {
  return encoded === null
    ? Number.NaN
    : decodeFromCompressedBase64(encoded).getValueAtPercentile(100 * part) / 1e6
}

/**
 * Constant arrivals: how long after it was due each request got its response, by the server's own account. That is right however
 * disturbed the machine was. The most punctual request tells when the schedule began.
 */
export function respondedAfter({ readAt, respondedAt }: Did, rate: number): number[] {
  const began = Math.min(...readAt.map((time, n) => time - (n * 1000) / rate))
  return respondedAt.map((time, n) => time - (n * 1000) / rate - began)
}
