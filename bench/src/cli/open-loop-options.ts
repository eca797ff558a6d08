import { parseOptions, readDuration, readInteger, UsageError } from '@startgrid/cli/arguments.ts'
import { CAPACITY_EFFORT, LATENCY_EFFORT, OVERLOAD_EFFORT } from '../experiment/open-loop-effort.ts'
import type { OpenLoopKind, OpenLoopOptions } from '../experiment/options.ts'
import { PROFILES, type ProfileName } from '../experiment/profiles.ts'
import { cellsHelp, OUTPUT_HELP } from './help.ts'
import { readSite } from './location.ts'
import { chooseProfile, GRID, readCommon, readMaxTime, withResumeValue } from './options.ts'

/** Roles that a command measures unless others are named: a search takes most of a minute per cell. The status app is a hello too. */
const DEFAULT_ROLE: Readonly<Record<OpenLoopKind, string>> = {
  capacity: 'hello',
  latency: 'hello,ssr',
  overload: 'hello,ssr',
}

const EFFORT = { capacity: CAPACITY_EFFORT, latency: LATENCY_EFFORT, overload: OVERLOAD_EFFORT }

const DEFAULT_P99 = '50ms'

/** @throws {UsageError} and UnknownName of the grid, saying what is allowed */
export function readOpenLoopOptions(kind: OpenLoopKind, args: readonly string[]): OpenLoopOptions {
  const own: readonly string[] = { capacity: ['p99'], latency: ['rate'], overload: [] }[kind]
  const values = parseOptions(
    withResumeValue(args),
    {
      ...GRID,
      launches: { type: 'string' },
      p99: { type: 'string' },
      rate: { type: 'string' },
    },
    `pnpm bench ${kind}`,
  )
  for (const name of ['p99', 'rate'] as const) {
    if (values[name] !== undefined && !own.includes(name))
      throw new UsageError(
        `pnpm bench ${kind} has no --${name}. pnpm bench ${kind} --help lists the options.`,
      )
  }
  const site = readSite(values)
  const profile = chooseProfile(values)
  const role = values.role ?? (values.only === undefined ? defaultRole(kind, profile) : undefined)
  const { launches } = values
  const custom = launches !== undefined
  return {
    ...readCommon({ ...values, role }, { frameworks: PROFILES[profile].frameworks, topology: 'direct' }),
    ...site,
    profile,
    custom,
    heats: custom ? readInteger('--launches', launches, 1, 100) : EFFORT[kind][profile].launches,
    slices: 1,
    sliceMs: kind === 'overload' ? OVERLOAD_EFFORT[profile].overloadMs : 0,
    pauseMs: 0,
    warmupMs: undefined,
    precision: null,
    maxTimeMs: readMaxTime(values['max-time']) ?? null,
    timeGiven: values['max-time'] !== undefined,
    heatsGiven: custom,
    p99Ms: kind === 'capacity' ? readDuration('--p99', values.p99 ?? DEFAULT_P99, 1) : null,
    rate: values.rate === undefined ? null : readInteger('--rate', values.rate, 1, 1_000_000),
  }
}

function defaultRole(kind: OpenLoopKind, profile: ProfileName): string {
  return profile === 'quick' ? 'hello' : DEFAULT_ROLE[kind]
}

const INTRODUCTION: Readonly<Record<OpenLoopKind, string>> = {
  capacity: `pnpm bench capacity [options]   the highest rate that keeps p99 under a bound

A staircase of open-loop steps on one launch of a cell finds the rate; others,
fresh ones, confirm it. Without --only or --role: hello.

  --p99 T             the bound, from the intended send time (default ${DEFAULT_P99})`,
  latency: `pnpm bench latency [options]   percentiles at fixed rates

At 25, 50 and 75 % of what a cell can do just then, and at one rate for all
cells of a role: half of what the slowest of them can do. Without --only or
--role: hello and ssr.

  --rate N            the common rate, in requests per second`,
  overload: `pnpm bench overload [options]   right responses at twice the capacity

And how long it takes after that until p99 at half the capacity is back.
Without --only or --role: hello and ssr.
`,
}

export function helpOf(kind: OpenLoopKind): string {
  const launches = EFFORT[kind].default.launches
  return `${INTRODUCTION[kind]}
${cellsHelp('direct')}
  --quick             three frameworks, hello, under a minute
  --thorough          longer loads on more launches
  --launches N        starts of every app, 1 to 100 (default ${launches})
  --connections N     open at most, 1 to 10000 (default 64; ssr 8)
  --max-time T        drops the last launches when time runs out: 90s, 10m
  --seed N            repeats an order
  --resume [RESULT]   goes on with an interrupted run (default: the newest)
  --dry-run           prints the plan and the time it takes
${OUTPUT_HELP}
`
}
