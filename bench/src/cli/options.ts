import { split, UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine, type Values } from '@startgrid/cli/options.ts'
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
import { PROFILES } from '../experiment/profiles.ts'
import { GRID } from './option-table.ts'

/** What of a profile is given otherwise. */
const EFFORT = ['heats', 'max-time']

/** What `pnpm bench` is asked to do. @throws {UsageError} saying what is allowed */
export function readOptions(args: readonly string[]): Options {
  const { values, given } = readWords(args, GRID, 'pnpm bench')
  const profile = values.quick ? 'quick' : 'default'
  const effort = PROFILES[profile]
  const { frameworks, roles } = effort
  const custom = EFFORT.some((name) => given.has(name))
  return {
    ...commonOf(values, { frameworks, roles, topology: 'direct,nginx' }),
    profile,
    custom,
    heats: values.heats ?? effort.heats,
    latency: values.latency,
    slices: effort.slices,
    sliceMs: effort.sliceMs,
    heatsGiven: given.has('heats'),
    maxTimeMs: values['max-time'] ?? null,
  }
}

/** Without words that are no option. */
const readWords: typeof readCommandLine = (args, options, command) => {
  const read = readCommandLine(args, options, command)
  const [extra] = read.positionals
  if (extra === undefined) return read
  throw new UsageError(`Unexpected argument '${extra}'. ${command} --help lists the options.`)
}

interface Usual {
  frameworks: readonly string[]
  /** Unless apps are named. */
  roles: readonly Role[]
  topology: string
}

function commonOf(values: Values<typeof GRID>, { frameworks, roles, topology }: Usual) {
  const { only, role, connections, json, output } = values
  return {
    apps: chooseApps(only, role ?? (only === undefined ? roles.join(',') : undefined), frameworks),
    topologies: [...new Set(split(values.topology ?? topology).map(findTopology))],
    ...{ connections, json, output },
    seed: values.seed ?? newSeed(),
    download: !values['no-download'],
    dryRun: values['dry-run'],
  }
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

export function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 32)
}
