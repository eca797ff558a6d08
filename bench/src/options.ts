import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import {
  APPS,
  type App,
  FRAMEWORKS,
  findApps,
  findRole,
  findTopology,
  ROLES,
  type Role,
  TOPOLOGIES,
  type Topology,
} from '@startgrid/grid/matrix.ts'
import { parseDuration } from '@startgrid/loadgen'
import { PROFILES, type ProfileName } from './profile.ts'
import type { DriverRecord } from './results.ts'

/** What `pnpm bench` and `pnpm bench selfcheck` are asked to do. */
export interface Options {
  apps: App[]
  topologies: Topology[]
  profile: ProfileName
  /** Something of the profile was given otherwise. */
  custom: boolean
  heats: number
  slices: number
  sliceMs: number
  /** Replaces what the profile says of each framework; undefined leaves that. */
  warmupMs: number | undefined
  /** Replaces every role's own number; undefined leaves them. */
  connections: number | undefined
  driver: DriverRecord['name']
  /** The half-width to reach, as a part of 1. */
  until: number | null
  maxTimeMs: number | null
  seed: number
  /** A directory or file to go on from; '' is the newest. */
  resume: string | undefined
  keepVoided: boolean
  list: boolean
  dryRun: boolean
  help: boolean
  /** Also written here; `-` is standard output. */
  json: string | undefined
  /** Where result.json and the reports go. */
  output: string | undefined
  download: boolean
}

/** Words that cannot be used; the message is a sentence. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export const HELP = `pnpm bench [options]   races every app, directly and behind NGINX (5 minutes)
pnpm bench COMMAND     each has its own --help

  capacity            the highest rate that keeps p99 under a bound
  latency             percentiles at fixed rates, from the intended send time
  overload            what is left at twice the capacity, and the recovery
  selfcheck           races one app against itself under seven names
  compare A B         two results: faster, slower, or no difference shown
  report RESULT       makes the reports of a result again

  --only NAMES        frameworks, apps or roles, with commas: fastify,koa/ssr
  --role NAMES        ${ROLES.join(', ')}
  --topology NAMES    ${TOPOLOGIES.join(', ')};
                      default direct,nginx
  --quick             three frameworks, 2 heats of 2 slices, under a minute
  --thorough          12 heats of 6 slices, 3 s of warm-up, half an hour
  --heats N           starts of every app, 1 to 100 (default 4)
  --slices N          measured per cell and heat, 1 to 50 (default 3)
  --slice T           length of a slice: 200ms, 1s (default 200ms)
  --warmup T          discarded after a start (default 250ms to 1.5s, by
                      framework and role)
  --until P           adds heats, from 6 on, until 95 % intervals are within
                      plus or minus P: 3%
  --max-time T        drops the last heats when time runs out: 90s, 10m
  --connections N     kept open, 1 to 10000 (default 64; ssr 8)
  --driver NAME       startgrid, wrk or autocannon (default startgrid)
  --seed N            repeats an order
  --resume [RESULT]   goes on with an interrupted run (default: the newest)
  --keep-voided       shows numbers that failed a gate, marked
  --list, --dry-run   prints the cells; the plan and the time it takes
  --json FILE         writes the result there too, - for standard output
  --output DIR        default bench/results/<time>
  --no-download       does not fetch NGINX if this machine has none
  --help

Frameworks: ${FRAMEWORKS.join(', ')}
`

/** Looking at intervals after fewer heats would stop at lucky ones. */
const LEAST_HEATS_UNTIL = 6

/** Options that choose cells, the same for every command. */
export const SELECTION = {
  only: { type: 'string' },
  role: { type: 'string' },
  topology: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** Options about where results go and what is repeated, the same for every command that measures. */
export const OUTPUT = {
  seed: { type: 'string' },
  json: { type: 'string' },
  output: { type: 'string' },
  'no-download': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig

/** @throws {UsageError} and UnknownName of the grid, saying what is allowed */
export function readOptions(args: readonly string[]): Options {
  const values = parseWords(withResumeValue(args), {
    ...SELECTION,
    ...OUTPUT,
    quick: { type: 'boolean' },
    thorough: { type: 'boolean' },
    heats: { type: 'string' },
    slices: { type: 'string' },
    slice: { type: 'string' },
    warmup: { type: 'string' },
    until: { type: 'string' },
    'max-time': { type: 'string' },
    connections: { type: 'string' },
    driver: { type: 'string' },
    resume: { type: 'string' },
    'keep-voided': { type: 'boolean' },
    list: { type: 'boolean' },
  })
  const name = chooseProfile(values)
  const profile = PROFILES[name]
  const { heats, slices, slice, warmup, until, connections } = values
  const custom = [heats, slices, slice, warmup, until].some((value) => value !== undefined)
  return {
    ...readCommon(values, { frameworks: profile.frameworks }),
    profile: name,
    custom,
    heats: Math.max(
      heats === undefined ? profile.heats : readInteger('--heats', heats, 1, 100),
      until === undefined ? 1 : LEAST_HEATS_UNTIL,
    ),
    slices: slices === undefined ? profile.slices : readInteger('--slices', slices, 1, 50),
    sliceMs: slice === undefined ? profile.sliceMs : readDuration('--slice', slice, 50),
    warmupMs: warmup === undefined ? undefined : readDuration('--warmup', warmup, 0),
    connections: connections === undefined ? undefined : readInteger('--connections', connections, 1, 10_000),
    driver: readDriver(values.driver ?? 'startgrid'),
    until: until === undefined ? null : readPercent('--until', until),
    maxTimeMs: readMaxTime(values['max-time'], { until, custom, profile: name }),
    resume: values.resume,
    keepVoided: values['keep-voided'] === true,
    list: values.list === true,
  }
}

/** What every command that measures reads alike. */
export function readCommon(
  values: {
    only?: string | undefined
    role?: string | undefined
    topology?: string | undefined
    seed?: string | undefined
    json?: string | undefined
    output?: string | undefined
    'no-download'?: boolean | undefined
    'dry-run'?: boolean | undefined
    help?: boolean | undefined
  },
  defaults: { frameworks: readonly string[]; topology?: string },
): Pick<Options, 'apps' | 'topologies' | 'seed' | 'json' | 'output' | 'download' | 'dryRun' | 'help'> {
  const topologies = split(values.topology ?? defaults.topology ?? 'direct,nginx')
  return {
    apps: chooseApps(values.only, values.role, defaults.frameworks),
    topologies: [...new Set(topologies.map(findTopology))],
    seed: readInteger('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 32)), 0, 2 ** 32 - 1),
    json: values.json,
    output: values.output,
    download: values['no-download'] !== true,
    dryRun: values['dry-run'] === true,
    help: values.help === true,
  }
}

/**
 * Splits words into options; positionals are refused unless allowed.
 * @throws {UsageError} in one sentence
 */
export function parseWords<const Config extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Config,
  command = 'pnpm bench',
) {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error)
    throw new UsageError(`${reason}. ${command} --help lists the options.`)
  }
}

/** `--resume` alone stands for the newest interrupted run; parseArgs knows no optional values. */
function withResumeValue(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const next = args[index + 1]
    return word === '--resume' && (next === undefined || next.startsWith('-')) ? '--resume=' : word
  })
}

function chooseProfile({
  quick,
  thorough,
}: {
  quick?: boolean | undefined
  thorough?: boolean | undefined
}): ProfileName {
  if (quick && thorough) throw new UsageError('--quick and --thorough exclude each other: choose one.')
  return quick ? 'quick' : thorough ? 'thorough' : 'default'
}

function readMaxTime(
  value: string | undefined,
  { until, custom, profile }: { until: string | undefined; custom: boolean; profile: ProfileName },
): number | null {
  if (value !== undefined) return readDuration('--max-time', value, 1000, 86_400_000)
  // Without an end, intervals that stay wide on a busy machine would never let it stop.
  if (until !== undefined) return PROFILES.thorough.maxTimeMs
  return custom ? null : PROFILES[profile].maxTimeMs
}

/**
 * The chosen apps, framework by framework.
 * @param frameworks those of the profile, if none is named
 */
export function chooseApps(
  only: string | undefined,
  role: string | undefined,
  frameworks: readonly string[] = FRAMEWORKS,
): App[] {
  const names = only === undefined ? frameworks : split(only)
  const named = new Set(names.flatMap(findApps))
  const roles = new Set<Role>(role === undefined ? ROLES : split(role).map(findRole))
  const chosen = APPS.filter((app) => named.has(app) && roles.has(app.role))
  if (chosen.length === 0) throw new UsageError(`No app is both in --only ${only} and in --role ${role}.`)
  return chosen
}

export function split(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}

export function readInteger(option: string, value: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${option} is '${value}', but must be a whole number from ${min} to ${max}.`)
}

/** Milliseconds from `500ms`, `2s` or `10m`. */
export function readDuration(option: string, value: string, min: number, max = 600_000): number {
  const ms = parseDuration(value) ?? Number.NaN
  if (ms >= min && ms <= max) return ms
  const example = max > 600_000 ? '90s or 10m' : '500ms or 2s'
  throw new UsageError(
    `${option} is '${value}', but must be a time from ${min}ms to ${max / 60_000}m, such as ${example}.`,
  )
}

/** `3%` as 0.03. */
export function readPercent(option: string, value: string): number {
  const [, number] = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/.exec(value) ?? []
  const part = number === undefined ? 0 : Number(number) / 100
  if (part > 0) return part
  throw new UsageError(
    `${option} is '${value}', but must be a percentage above 0 % and below 100 %, such as 3%.`,
  )
}

const DRIVERS = ['startgrid', 'wrk', 'autocannon'] as const

function readDriver(value: string): DriverRecord['name'] {
  const found = DRIVERS.find((name) => name === value)
  if (found === undefined) throw new UsageError(`There is no driver '${value}', only ${DRIVERS.join(', ')}.`)
  return found
}
