import { FRAMEWORKS, type Role } from '@startgrid/grid/matrix.ts'

/** How much effort a run takes, and what every cell gets of it. */

export type ProfileName = 'quick' | 'default' | 'thorough'

export interface Profile {
  frameworks: readonly string[]
  /** Launches of every app. */
  heats: number
  /** Per cell and heat. */
  slices: number
  sliceMs: number
  /** Milliseconds of load after a launch that are discarded. */
  warmupMs(framework: string): number
  /** When the last heats are dropped. */
  maxTimeMs: number
  /** What a reader may expect of it. */
  shows: string
}

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  quick: {
    frameworks: ['node', 'fastify', 'express'],
    heats: 2,
    slices: 2,
    sliceMs: 150,
    warmupMs: (framework) => Math.min(1000, ownWarmup(framework)),
    maxTimeMs: 60_000,
    shows:
      'A quick run shows that everything works and differences of about a factor of 1.3. It cannot rank what is closer, ' +
      'and two launches say little about how launches vary.',
  },
  default: {
    frameworks: FRAMEWORKS,
    heats: 4,
    slices: 3,
    sliceMs: 200,
    warmupMs: ownWarmup,
    maxTimeMs: 300_000,
    shows:
      'A default run shows differences of about 10 % on a quiet machine. It cannot show smaller ones, ' +
      'and it says nothing about latency under a fixed rate: that is `pnpm bench latency`.',
  },
  thorough: {
    frameworks: FRAMEWORKS,
    heats: 12,
    slices: 6,
    sliceMs: 200,
    warmupMs: () => 3000,
    maxTimeMs: 3_600_000,
    shows:
      'A thorough run shows differences of about 4 % on a quiet machine. It cannot show what differs between machines, ' +
      'days or versions, nor latency under a fixed rate.',
  },
}

/**
 * Milliseconds of load after a launch that are discarded, by framework: from the pooled slice profiles of thorough runs
 * (shared/FACTS.md: a Node launch costs 2.6 to 3.8 times its final CPU per request at first and is warm after 1.0 to 1.25 s, Bun at
 * once; njs compiles nothing).
 */
const WARMUP_MS: Readonly<Record<string, number>> = { bun: 500, njs: 250 }
const NODE_WARMUP_MS = 1250

function ownWarmup(framework: string): number {
  return WARMUP_MS[framework] ?? NODE_WARMUP_MS
}

/** Behind NGINX the app is warm already: what is new is NGINX, which has nothing to compile. */
export const PROXIED_WARMUP_MS = 250

/**
 * Connections by role. A slice lasts at least 8 × connections / rate: an interpreted page at 56 answers per second would take
 * 9 s with 64, and 16 keep one core as busy.
 */
export const CONNECTIONS: Readonly<Record<Role, number>> = { hello: 64, ssr: 16, status: 64 }
