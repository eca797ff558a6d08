import type { ParseArgsOptionsConfig } from 'node:util'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { CAPABILITIES, type Capability } from '@startgrid/conformance'
import { findRole, ROLES } from '@startgrid/grid/matrix.ts'
import { readOrigin } from '../environments/target/origin.ts'
import type { ServerLocation } from '../plan/options.ts'

/** Options about the site, the same for every command that measures. */
export const SITE = {
  docker: { type: 'boolean' },
  target: { type: 'string' },
  without: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** Options that have to agree with the site. */
interface Words {
  docker?: boolean | undefined
  target?: string | undefined
  without?: string | undefined
  only?: string | undefined
  role?: string | undefined
  topology?: string | undefined
  driver?: string | undefined
  resume?: string | undefined
}

/** @throws {UsageError} and UnknownName of the grid for what cannot be combined */
export function readSite(words: Words): ServerLocation {
  const { docker = false, target } = words
  if (docker && target !== undefined)
    throw new UsageError('--docker and --target exclude each other: a target already runs, wherever that is.')
  if (words.resume !== undefined && (docker || target !== undefined))
    throw new UsageError(
      `--resume goes on as the run was begun: leave out ${docker ? '--docker' : '--target'}.`,
    )
  if (docker) assertFitsDocker(words)
  if (target === undefined && words.without !== undefined)
    throw new UsageError('--without goes with --target alone: of its own apps the grid knows what they lack.')
  return target === undefined
    ? { docker, target: undefined, role: undefined, absent: [] }
    : readTarget(target, words)
}

const CONTAINER_TOPOLOGIES = ['direct', 'nginx']

function assertFitsDocker({ topology = '', driver = 'startgrid' }: Words): void {
  const names = topology === '' ? [] : topology.split(',').map((name) => name.trim())
  const other = names.find((name) => name.startsWith('nginx-') && !CONTAINER_TOPOLOGIES.includes(name))
  if (other !== undefined)
    throw new UsageError(`There is no ${other} in containers, only ${CONTAINER_TOPOLOGIES.join(' and ')}.`)
  if (driver !== 'startgrid')
    throw new UsageError(`--driver ${driver} does not run in containers: with --docker it is startgrid.`)
}

function readTarget(target: string, { only, role, topology, without }: Words): ServerLocation {
  if (only !== undefined)
    throw new UsageError('--target is one app that already runs: leave out --only, and say its --role.')
  if (topology !== undefined)
    throw new UsageError(
      '--target is asked where it is, whatever stands in front of it: leave out --topology.',
    )
  if (role === undefined || role.includes(','))
    throw new UsageError(`--target needs the --role of the app that runs there, one of ${ROLES.join(', ')}.`)
  return {
    docker: false,
    target: readOrigin(target),
    role: findRole(role),
    absent: without === undefined ? [] : without.split(',').map((name) => readCapability(name.trim())),
  }
}

function readCapability(name: string): Capability {
  const found = CAPABILITIES.find((one) => one === name)
  if (found === undefined)
    throw new UsageError(`--without is '${name}', but must be ${CAPABILITIES.join(' or ')}.`)
  return found
}
