import type { ParseArgsOptionsConfig } from 'node:util'
import {
  parseOptions,
  readDuration,
  readInteger,
  readPercent,
  split,
  UsageError,
} from '@startgrid/cli/arguments.ts'
import {
  APPS,
  type App,
  FRAMEWORKS,
  findApps,
  findRole,
  findTopology,
  ROLES,
  type Role,
} from '@startgrid/grid/apps.ts'
import type { Options } from '../experiment/options.ts'
import { PROFILES, type ProfileName } from '../experiment/profiles.ts'
import { TARGET_EFFORT } from '../experiment/target-profiles.ts'
import { readSite, SITE } from './location.ts'

/** Containers take seconds to start, so a run of as many heats takes longer. */
const MORE_FOR_CONTAINERS = 1.5

/** Looking at intervals after fewer heats would stop at lucky ones. */
const LEAST_HEATS_FOR_PRECISION = 6

/** Options about where results go and what is repeated, the same for every command that measures. */
export const OUTPUT = {
  seed: { type: 'string' },
  json: { type: 'string' },
  output: { type: 'string' },
  'no-download': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig

/** Options of every command that measures the grid: which cells, where they are, how much effort. */
export const GRID = {
  ...SITE,
  ...OUTPUT,
  only: { type: 'string' },
  role: { type: 'string' },
  topology: { type: 'string' },
  quick: { type: 'boolean' },
  thorough: { type: 'boolean' },
  connections: { type: 'string' },
  'max-time': { type: 'string' },
  resume: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** @throws {UsageError} and UnknownName of the grid, saying what is allowed */
export function readOptions(args: readonly string[]): Options {
  const values = parseOptions(
    withResumeValue(args),
    {
      ...GRID,
      heats: { type: 'string' },
      slices: { type: 'string' },
      slice: { type: 'string' },
      warmup: { type: 'string' },
      precision: { type: 'string' },
      require: { type: 'string' },
      'keep-voided': { type: 'boolean' },
      list: { type: 'boolean' },
    },
    'pnpm bench',
  )
  const site = readSite(values)
  const name = chooseProfile(values)
  const effort = site.target === undefined ? PROFILES[name] : TARGET_EFFORT[name]
  const { heats, slices, slice, warmup, precision } = values
  const role = values.role ?? (values.only === undefined ? PROFILES[name].roles.join(',') : undefined)
  const custom = [heats, slices, slice, warmup, precision, values['max-time']].some(
    (value) => value !== undefined,
  )
  return {
    ...readCommon({ ...values, role }, { frameworks: PROFILES[name].frameworks }),
    ...site,
    profile: name,
    custom,
    heats: Math.max(
      heats === undefined ? effort.heats : readInteger('--heats', heats, 1, 100),
      precision === undefined ? 1 : LEAST_HEATS_FOR_PRECISION,
    ),
    slices: slices === undefined ? effort.slices : readInteger('--slices', slices, 1, 50),
    sliceMs: slice === undefined ? effort.sliceMs : readDuration('--slice', slice, 50),
    pauseMs: 'pauseMs' in effort ? effort.pauseMs : 0,
    warmupMs: warmup === undefined ? undefined : readDuration('--warmup', warmup, 0),
    precision: precision === undefined ? null : readPercent('--precision', precision),
    timeGiven: values['max-time'] !== undefined,
    heatsGiven: heats !== undefined || precision !== undefined,
    maxTimeMs: limitOf(values['max-time'], {
      precision,
      custom,
      usual: effort.maxTimeMs * (site.docker || site.cluster !== undefined ? MORE_FOR_CONTAINERS : 1),
    }),
    require: values.require === undefined ? null : readPercent('--require', values.require),
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
    connections?: string | undefined
    resume?: string | undefined
    seed?: string | undefined
    json?: string | undefined
    output?: string | undefined
    'no-download'?: boolean | undefined
    'dry-run'?: boolean | undefined
    help?: boolean | undefined
  },
  defaults: { frameworks: readonly string[]; topology?: string },
): Pick<
  Options,
  | 'apps'
  | 'topologies'
  | 'connections'
  | 'resume'
  | 'seed'
  | 'json'
  | 'output'
  | 'download'
  | 'dryRun'
  | 'help'
> {
  const { connections } = values
  const topologies = split(values.topology ?? defaults.topology ?? 'direct,nginx')
  return {
    apps: chooseApps(values.only, values.role, defaults.frameworks),
    topologies: [...new Set(topologies.map(findTopology))],
    connections: connections === undefined ? undefined : readInteger('--connections', connections, 1, 10_000),
    resume: values.resume,
    seed: readInteger('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 32)), 0, 2 ** 32 - 1),
    json: values.json,
    output: values.output,
    download: values['no-download'] !== true,
    dryRun: values['dry-run'] === true,
    help: values.help === true,
  }
}

/** `--resume` alone stands for the newest interrupted run; parseArgs knows no optional values. */
export function withResumeValue(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const next = args[index + 1]
    return word === '--resume' && (next === undefined || next.startsWith('-')) ? '--resume=' : word
  })
}

/** @throws {UsageError} if both are asked for */
export function chooseProfile({
  quick,
  thorough,
}: {
  quick?: boolean | undefined
  thorough?: boolean | undefined
}): ProfileName {
  if (quick && thorough) throw new UsageError('--quick and --thorough exclude each other: choose one.')
  return quick ? 'quick' : thorough ? 'thorough' : 'default'
}

/** Milliseconds. */
export function readMaxTime(value: string | undefined): number | undefined {
  return value === undefined ? undefined : readDuration('--max-time', value, 1000, 86_400_000)
}

function limitOf(
  value: string | undefined,
  { precision, custom, usual }: { precision: string | undefined; custom: boolean; usual: number },
): number | null {
  const given = readMaxTime(value)
  if (given !== undefined) return given
  // Without an end, intervals that stay wide on a busy machine would never let it stop.
  if (precision !== undefined) return PROFILES.thorough.maxTimeMs
  return custom ? null : usual
}

/**
 * The chosen apps, framework by framework.
 * @param frameworks those of the profile, if none is named
 */
function chooseApps(
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
