import { parseArgs } from 'node:util'
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

export interface Options {
  apps: App[]
  topologies: Topology[]
  rounds: number
  durationMs: number
  warmupMs: number
  connections: number
  seed: number
  list: boolean
  help: boolean
  /** Also written here; `-` is standard output. */
  json: string | undefined
  /** Where result.json and report.md go. */
  output: string | undefined
  download: boolean
}

/** Words that cannot be used; the message is a sentence. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export const HELP = `pnpm bench [options]   measures every app, directly and behind NGINX (4 minutes)

  --only NAMES        frameworks, apps or roles, with commas: fastify,koa/ssr
  --role NAMES        ${ROLES.join(', ')}
  --topology NAMES    ${TOPOLOGIES.join(', ')};
                      default direct,nginx
  --quick             three frameworks, 2 rounds, under a minute
  --rounds N          starts of every app, 1 to 100 (default 4)
  --duration T        measured per cell and round: 500ms, 2s (default 500ms)
  --warmup T          discarded before that, per cell (default 1s)
  --connections N     kept open, 1 to 10000 (default 64)
  --seed N            repeats an order
  --list              prints the cells and ends
  --json FILE         writes the result there too, - for standard output
  --output DIR        default bench/results/<time>
  --no-download       does not fetch NGINX if this machine has none
  --help

Frameworks: ${FRAMEWORKS.join(', ')}
`

const QUICK = {
  frameworks: ['node', 'fastify', 'express'],
  rounds: '2',
  duration: '400ms',
  warmup: '750ms',
} as const

/** @throws {UsageError} and UnknownName of the grid, saying what is allowed */
export function readOptions(args: readonly string[]): Options {
  const { values } = parse(args)
  const quick = values.quick === true
  return {
    apps: chooseApps(values.only, values.role, quick),
    topologies: [...new Set(split(values.topology ?? 'direct,nginx').map(findTopology))],
    rounds: readInteger('--rounds', values.rounds ?? (quick ? QUICK.rounds : '4'), 1, 100),
    durationMs: readDuration('--duration', values.duration ?? (quick ? QUICK.duration : '500ms')),
    warmupMs: readDuration('--warmup', values.warmup ?? (quick ? QUICK.warmup : '1s')),
    connections: readInteger('--connections', values.connections ?? '64', 1, 10_000),
    seed: readInteger('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 32)), 0, 2 ** 32 - 1),
    list: values.list === true,
    help: values.help === true,
    json: values.json,
    output: values.output,
    download: values['no-download'] !== true,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        role: { type: 'string' },
        topology: { type: 'string' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        duration: { type: 'string' },
        warmup: { type: 'string' },
        connections: { type: 'string' },
        seed: { type: 'string' },
        list: { type: 'boolean' },
        json: { type: 'string' },
        output: { type: 'string' },
        'no-download': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error)
    throw new UsageError(`${reason}. pnpm bench --help lists the options.`)
  }
}

function chooseApps(only: string | undefined, role: string | undefined, quick: boolean): App[] {
  const names = only === undefined ? (quick ? QUICK.frameworks : FRAMEWORKS) : split(only)
  const named = new Set(names.flatMap(findApps))
  const roles = new Set<Role>(role === undefined ? ROLES : split(role).map(findRole))
  const chosen = APPS.filter((app) => named.has(app) && roles.has(app.role))
  if (chosen.length === 0) throw new UsageError(`No app is both in --only ${only} and in --role ${role}.`)
  return chosen
}

function split(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}

function readInteger(option: string, value: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${option} is '${value}', but must be a whole number from ${min} to ${max}.`)
}

function readDuration(option: string, value: string): number {
  const ms = parseDuration(value) ?? 0
  if (ms >= 50 && ms <= 600_000) return ms
  throw new UsageError(`${option} is '${value}', but must be a time from 50ms to 10m, such as 500ms or 2s.`)
}
