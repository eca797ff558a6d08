import { split, UsageError } from '@startgrid/cli/arguments.ts'
import {
  duration,
  flag,
  integer,
  type Option,
  percent,
  readCommandLine,
  text,
  texts,
} from '@startgrid/cli/options.ts'
import {
  APPS,
  type App,
  findApps,
  findRole,
  findTopology,
  ROLES,
  type Role,
  TOPOLOGIES,
} from '@startgrid/grid/apps.ts'
import { REQUEST } from '@startgrid/loadgen/request.ts'
import { PROFILES, type ProfileName } from '../experiment/profiles.ts'

/** Every option of every command: its reader, what it goes with, its default and its help. */

const connections = integer('kept open, 1 to 10000 (default 64; ssr 8)', { min: 1, max: 10_000 })
const maxTime = (help: string) => duration(`${help}: 90s, 10m`, { min: 1000, max: 86_400_000 })
const givenSeed = integer('of the random order, to repeat it', { min: 0, max: 2 ** 32 - 1 })
const seed: Option<number> = {
  ...givenSeed,
  read: (words, name) => givenSeed.read(words, name) ?? Math.floor(Math.random() * 2 ** 32),
}
const dryRun = flag('prints the plan and the time it takes')

/** Where results go: the last options of every command that measures. */
const OUTPUT = {
  json: text('FILE', 'writes the result there as well; - is standard output'),
  output: text('DIR', 'for result and reports (default a new one)'),
  help: flag('this list'),
}

export const GRID = {
  only: text('NAMES', 'frameworks, apps or roles, with commas: fastify,koa/ssr'),
  role: text('NAMES', ROLES.join(', ')),
  topology: text('NAMES', `${TOPOLOGIES.join(', ')}; default direct,nginx`),
  quick: flag('hello and ssr of three frameworks, 2 heats: a minute'),
  heats: integer('starts of every app, 1 to 100 (default 3)', { min: 1, max: 100 }),
  'max-time': maxTime('as many heats as fit, at least 2'),
  connections,
  latency: flag('also p50 and p99, at one rate for all: 10 minutes'),
  seed,
  'dry-run': dryRun,
  ...OUTPUT,
}

export const STUDY = {
  all: flag('all of published sources'),
  list: flag('the studies and their claims'),
  quick: flag('3 launches of every system instead of 8; all studies in under 40 minutes'),
  'as-published': flag("runs nothing but the source's own command"),
  heats: integer('launches of every system, 2 to 100 (default 8)', { min: 2, max: 100 }),
  'max-time': maxTime('drops the last launches of a study when time runs out (default with --quick 5m)'),
  seed,
  'dry-run': dryRun,
  'no-download': flag('leaves out what a study would have to download'),
  ...OUTPUT,
}

export const RACE = {
  git: texts('REF', 'a commit to compare with; twice: two commits'),
  command: text('CMD', 'starts both, instead of their start script', { needs: 'git' }),
  install: text('CMD', 'installs both, instead of their lockfile', { needs: 'git' }),
  build: text('CMD', 'builds both, instead of their build script', { needs: 'git' }),
  ...REQUEST,
  path: {
    ...REQUEST.path,
    help: 'what is asked (default /); give several to race each, or with weights to mix them: 3:/items',
  },
  'expect-status': integer('of a right response (default any 2xx)', { min: 200, max: 599 }),
  'different-responses': flag('goes on although the systems do different work'),
  connections: integer('with one request in flight each', { min: 1, max: 10_000, default: 32, short: 'c' }),
  rate: integer('of latency, per second (default half of the slowest)', { min: 1, max: 1_000_000 }),
  within: percent('a smaller difference is none (default 3%)'),
  'fail-if-slower': flag('exit code 1 if one is slower than the first by more than --within'),
  why: flag('also names the functions that account for it'),
  bisect: flag('which commit between two of --git made the difference?', { needs: 'git' }),
  twin: flag('also the first against itself, which shows the noise'),
  name: texts('A=NAME', 'what reports call the first one; B=NAME the second'),
  'ready-path': text('PATH', 'a server is ready when it responds to this with 2xx'),
  'ready-timeout': duration('to become ready (30s; 8s if it responds otherwise)', { min: 100 }),
  heats: integer('starts of each, 2 to 100, whatever they show; no verdict below 5', { min: 2, max: 100 }),
  cores: integer('of this machine, for the servers', { min: 1, max: 1024, default: 1 }),
  'max-time': maxTime('ends without a verdict (3m; --bisect 20m)'),
  seed,
  ...OUTPUT,
}

export const REPORT = {
  output: text('DIR', 'writes the reports there instead'),
  comment: flag('prints a comment for a pull request, of a race of commands; writes nothing'),
  help: flag('this list'),
}

export const PUBLISH = { help: flag('this list') }

/** What `pnpm bench` is asked to do. @throws {UsageError} saying what is allowed */
export function readOptions(args: readonly string[]) {
  const { values } = readCommandLine(args, GRID, 'pnpm bench', 0)
  const { only, role } = values
  const profile: ProfileName = values.quick ? 'quick' : 'default'
  const { frameworks, roles } = PROFILES[profile]
  return {
    ...values,
    apps: chooseApps(only, role ?? (only === undefined ? roles.join(',') : undefined), frameworks),
    topologies: [...new Set(split(values.topology ?? 'direct,nginx').map(findTopology))],
    profile,
    /** No heat begins that would end later. If the number of heats was not given, there are as many as fit. */
    maxTimeMs: values['max-time'],
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
  frameworks: readonly string[],
): App[] {
  const names = only === undefined ? frameworks : split(only)
  const named = new Set(names.flatMap(findApps))
  const roles = new Set<Role>(role === undefined ? ROLES : split(role).map(findRole))
  const chosen = APPS.filter((app) => named.has(app) && roles.has(app.role))
  if (chosen.length === 0) throw new UsageError(`No app is both in --only ${only} and in --role ${role}.`)
  return chosen
}
