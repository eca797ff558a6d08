/** Timing says nothing while others use the cores. Whether they did is judged by the kernel's account, never by the result. */

import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'

const ATTEMPTS = 2

/** Nanoseconds that the main thread of a process ran, and that it was ready to run but kept from it; 0 where nobody counts. */
export function schedstat(pid: number): { ran: number; waited: number } {
  // https://docs.kernel.org/scheduler/sched-stats.html
  if (process.platform !== 'linux') return { ran: 0, waited: 0 }
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return { ran, waited }
}

/** Begins to watch processes. @returns milliseconds that they were kept from running since, added up */
export function watchWaiting(...processes: { pid: number }[]): () => number {
  const total = () => processes.reduce((sum, { pid }) => sum + schedstat(pid).waited, 0) / 1e6
  const before = total()
  return () => total() - before
}

/**
 * Measures until it was not disturbed, a few times at most.
 * @param limitMs how long server and generator may have been kept from running
 * @returns undefined if it always was: then the test is skipped and says so
 */
export async function whenCalm<Measured extends { waitedMs: number }>(
  t: TestContext,
  limitMs: number,
  measure: () => Promise<Measured>,
): Promise<Measured | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const measured = await measure()
    if (measured.waitedMs <= limitMs) return measured
    t.diagnostic(`disturbed: server and generator waited ${measured.waitedMs.toFixed(0)} ms for a core`)
  }
  t.skip(`other processes used the cores in ${ATTEMPTS} attempts`)
  return undefined
}
