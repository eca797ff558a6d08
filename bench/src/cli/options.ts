import { split, UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
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
import { PROFILES, type ProfileName } from '../experiment/profiles.ts'
import { GRID } from './option-table.ts'

/** What of a profile is given otherwise. */
const EFFORT = ['heats', 'max-time']

export type Options = ReturnType<typeof readOptions>

/** What `pnpm bench` is asked to do. @throws {UsageError} saying what is allowed */
export function readOptions(args: readonly string[]) {
  const { values, given } = readCommandLine(args, GRID, 'pnpm bench', 0)
  const { only, role, connections, latency, json, output } = values
  const profile: ProfileName = values.quick ? 'quick' : 'default'
  const { frameworks, roles, heats } = PROFILES[profile]
  return {
    apps: chooseApps(only, role ?? (only === undefined ? roles.join(',') : undefined), frameworks),
    topologies: [...new Set(split(values.topology ?? 'direct,nginx').map(findTopology))],
    ...{ connections, latency, json, output, profile },
    /** Something of the profile was given otherwise. */
    custom: EFFORT.some((name) => given.has(name)),
    heats: values.heats ?? heats,
    heatsGiven: given.has('heats'),
    /** No heat begins that would end later. If the number of heats was not given, there are as many as fit. */
    maxTimeMs: values['max-time'] ?? null,
    seed: values.seed,
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
