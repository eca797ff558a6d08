import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { APPS, type App, findApps } from '@startgrid/grid/apps.ts'
import type { Fault } from '../fault.ts'
import { FAULTS } from '../faults/index.ts'
import type { Size } from '../subject/subject.ts'

/** What `pnpm reliability` is asked to do. */
export interface Options {
  apps: readonly App[]
  faults: readonly Fault[]
  size: Size
  seed: number
  list: boolean
  resume: boolean
  docs: boolean
  help: boolean
}

export const HELP = `pnpm reliability [APP …] [options]   what each app does when something goes wrong

  APP            an app, a framework or a role: fastify/ssr, fastify, ssr
                 (default: all)
  --fault NAME   only this one; may be given again
  --full         with the numbers of the report, about 50 minutes; without it
                 a short form, about eight
  --seed N       other random requests for fuzz (default: 1)
  --resume       goes on with the run that was interrupted, and tries again what
                 this machine could not tell
  --docs         with --full: stores the result and makes docs/reliability.md
                 again; alone: makes it again from the stored result
  --list         prints the faults
  --help

Exit codes: 0 all passed; 1 something failed; 2 not understood; 130 interrupted.
`

/** @throws {UsageError} saying what is allowed */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args)
  const { fault, seed, full = false, list = false, resume = false, docs = false, help = false } = values
  const chosen = positionals.length > 0 || fault !== undefined
  if (docs && chosen) throw new UsageError('--docs is about the whole matrix: leave out APP and --fault.')
  if (resume && (chosen || full || seed !== undefined))
    throw new UsageError(
      '--resume goes on with what was asked for then: leave out APP, --fault, --full and --seed.',
    )
  const named = new Set(positionals.flatMap(findApps))
  return {
    apps: positionals.length === 0 ? APPS : APPS.filter((app) => named.has(app)),
    faults: fault === undefined ? FAULTS : findFaults(fault),
    size: full ? 'full' : 'short',
    seed: readSeed(seed),
    list,
    resume,
    docs,
    help,
  }
}

function parse(args: readonly string[]) {
  return parseCommandLine(
    args,
    {
      fault: { type: 'string', multiple: true },
      full: { type: 'boolean' },
      seed: { type: 'string' },
      resume: { type: 'boolean' },
      docs: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
    'pnpm reliability',
  )
}

/** @throws {UsageError} for anything but a whole number up to nine digits */
function readSeed(text = '1'): number {
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`--seed is '${text}', but must be a whole number of at most nine digits.`)
  return Number(text)
}

/** Faults by name, in the order of the matrix. @throws {UsageError} listing them */
export function findFaults(names: readonly string[]): Fault[] {
  const unknown = names.find((name) => !FAULTS.some((fault) => fault.name === name))
  if (unknown !== undefined)
    throw new UsageError(`There is no fault '${unknown}', only ${FAULTS.map(({ name }) => name).join(', ')}.`)
  return FAULTS.filter(({ name }) => names.includes(name))
}
