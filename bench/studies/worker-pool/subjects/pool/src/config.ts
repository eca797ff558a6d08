import { availableParallelism } from 'node:os'
import { type Env, readChoice, readInteger, refuse } from '@startgrid/shared/process/config.ts'

export const POOL_LIBRARIES = ['qoper8-cp', 'piscina'] as const

/** `qoper8-cp` has child processes, `piscina` worker threads. */
export type PoolLibrary = (typeof POOL_LIBRARIES)[number]

export interface PoolConfig {
  library: PoolLibrary
  /** Workers. */
  size: number
  /** Tasks that may wait for a worker; more are refused. */
  queue: number
  /** Milliseconds that a task may run; then its worker is replaced. */
  timeoutMs: number
}

const MOST_WORKERS = 64

/** Reads POOL, POOL_SIZE, POOL_QUEUE and POOL_TIMEOUT_MS.
 * @throws {StartError} naming the variable, its value and what is allowed */
export function readPoolConfig(env: Env): PoolConfig {
  return {
    library: readChoice<PoolLibrary>(env, 'POOL', 'piscina', POOL_LIBRARIES),
    size: readSize(env),
    queue: readInteger(env, 'POOL_QUEUE', 100, 100_000, 1),
    timeoutMs: readInteger(env, 'POOL_TIMEOUT_MS', 5_000, 600_000, 1),
  }
}

/** `auto` is one worker for each core that this process may use. */
function readSize({ POOL_SIZE = 'auto' }: Env): number {
  if (POOL_SIZE === 'auto') return Math.min(availableParallelism(), MOST_WORKERS)
  const size = /^\d{1,2}$/.test(POOL_SIZE) ? Number(POOL_SIZE) : 0
  if (size >= 1 && size <= MOST_WORKERS) return size
  return refuse('POOL_SIZE', POOL_SIZE, `auto or a whole number from 1 to ${MOST_WORKERS}`)
}
