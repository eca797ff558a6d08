import { FRAMEWORKS, ROLES, type Role } from '@startgrid/grid/apps.ts'

/** How much effort a run takes, and what every cell gets of it. */

export type ProfileName = 'quick' | 'default' | 'thorough'

export interface Profile {
  frameworks: readonly string[]
  roles: readonly Role[]
  /** Launches of every app. */
  heats: number
  /** Passes per heat: each measures every cell once. */
  slices: number
  sliceMs: number
  /** Milliseconds of load after a launch that are discarded. */
  warmupMs(app: Warmed): number
  /** When the last heats are dropped. */
  maxTimeMs: number
  /** What a reader may expect of it. */
  shows: string
}

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  quick: {
    frameworks: ['node', 'fastify', 'express'],
    // status is a hello with less in it, and would take a third of the time.
    roles: ['hello', 'ssr'],
    heats: 2,
    slices: 5,
    sliceMs: 50,
    warmupMs: ownWarmup,
    maxTimeMs: 60_000,
    shows:
      'A quick run shows that everything works and differences of about a factor of 1.3. It cannot rank what is closer, ' +
      'and two launches say little about how launches vary.',
  },
  default: {
    frameworks: FRAMEWORKS,
    roles: ROLES,
    heats: 3,
    slices: 19,
    sliceMs: 50,
    warmupMs: ownWarmup,
    maxTimeMs: 300_000,
    shows:
      'A default run shows differences of about 10 % on a quiet machine. It cannot show smaller ones, ' +
      'and it says nothing about latency under a fixed rate: that is `pnpm bench latency`.',
  },
  thorough: {
    frameworks: FRAMEWORKS,
    roles: ROLES,
    heats: 12,
    slices: 24,
    sliceMs: 50,
    warmupMs: () => 3000,
    maxTimeMs: 3_600_000,
    shows:
      'By the simulation, a thorough run shows differences of about 4 % on a quiet machine. It cannot show what differs between machines, ' +
      'days or versions, nor latency under a fixed rate.',
  },
}

/**
 * Milliseconds of load after a launch that are discarded, by app: from the pooled profiles of 250 ms slices of a default run (4 launches
 * each, two cores of an EPYC, November 2026). hello and status cost 2.2 to 3.4 times the final CPU per request in their first slice;
 * bare node, Fastify and Hono are within 5 % of it in the fourth, Express and Koa (1.2 to 1.6 in the fourth) in the fifth. A page takes
 * longer: 1.1 to 1.15 in the fifth. Bun's is 7.3, 1.5, 1.4, then warm. njs compiles nothing.
 */
const WARMUP_MS: Readonly<Record<string, Readonly<Record<Role, number>>>> = {
  node: { hello: 1000, ssr: 1500, status: 1000 },
  fastify: { hello: 1000, ssr: 1500, status: 1000 },
  express: { hello: 1250, ssr: 1500, status: 1250 },
  koa: { hello: 1250, ssr: 1500, status: 1250 },
  hono: { hello: 1000, ssr: 1500, status: 1000 },
  bun: { hello: 250, ssr: 1250, status: 250 },
  njs: { hello: 250, ssr: 250, status: 250 },
}

/** Responses per second in that run, direct: how fast an app becomes warm depends on requests, not on time. */
const RATES: Readonly<Record<string, Readonly<Record<Role, number>>>> = {
  node: { hello: 74_000, ssr: 5800, status: 71_000 },
  fastify: { hello: 56_000, ssr: 5300, status: 55_000 },
  express: { hello: 47_000, ssr: 5100, status: 49_000 },
  koa: { hello: 40_000, ssr: 4800, status: 44_000 },
  hono: { hello: 63_000, ssr: 5400, status: 63_000 },
  bun: { hello: 85_000, ssr: 5200, status: 82_000 },
  njs: { hello: 38_000, ssr: 54, status: 41_000 },
}

/** Requests that an app served in its warm-up on that machine; none for a framework that is not in the table yet. */
export function warmupRequests({ framework, role }: Warmed, warmupMs: number): number {
  return Math.round(((RATES[framework]?.[role] ?? 0) * warmupMs) / 1000)
}

/** For a framework that is not in the table yet. */
const LONGEST_WARMUP_MS = 1500

function ownWarmup({ framework, role }: Warmed): number {
  return WARMUP_MS[framework]?.[role] ?? LONGEST_WARMUP_MS
}

/** What decides how long an app takes to become warm. */
interface Warmed {
  framework: string
  role: Role
}

/** Behind NGINX the app is warm already: what is new is NGINX, which has nothing to compile. */
export const PROXIED_WARMUP_MS = 250

/**
 * Connections by role. A slice lasts at least 4 × connections / rate: with 64, an interpreted page at 54 responses per second would take
 * 5 s, and 8 keep one core as busy.
 */
export const CONNECTIONS: Readonly<Record<Role, number>> = { hello: 64, ssr: 8, status: 64 }
