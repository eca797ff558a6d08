import type { ParseArgsOptionsConfig } from 'node:util'
import { readInteger, UsageError } from '@startgrid/cli/arguments.ts'
import { CAPABILITIES, type Capability } from '@startgrid/conformance'
import { findRole, ROLES } from '@startgrid/grid/apps.ts'
import { NAMESPACE } from '@startgrid/grid/kubernetes.ts'
import { readNodeSelector } from '../environments/kubernetes/site.ts'
import { readOrigin } from '../environments/target/origin.ts'
import type { ClusterSite, ServerLocation } from '../experiment/options.ts'

/** Options about a cluster. */
export const CLUSTER = {
  kubernetes: { type: 'boolean' },
  context: { type: 'string' },
  namespace: { type: 'string' },
  'server-node': { type: 'string' },
  'generator-node': { type: 'string' },
  generators: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** Options about the site, the same for every command that measures. */
export const SITE = {
  ...CLUSTER,
  docker: { type: 'boolean' },
  target: { type: 'string' },
  without: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig

/** Options that have to agree with the site. */
interface Words {
  docker?: boolean | undefined
  kubernetes?: boolean | undefined
  context?: string | undefined
  namespace?: string | undefined
  'server-node'?: string | undefined
  'generator-node'?: string | undefined
  generators?: string | undefined
  target?: string | undefined
  without?: string | undefined
  only?: string | undefined
  role?: string | undefined
  topology?: string | undefined
  resume?: string | undefined
}

/** @throws {UsageError} and UnknownName of the grid for what cannot be combined */
export function readSite(words: Words): ServerLocation {
  const { docker = false, kubernetes = false, target } = words
  const places = [docker && '--docker', kubernetes && '--kubernetes', target !== undefined && '--target']
  const [place, other] = places.filter((one) => one !== false)
  if (other !== undefined)
    throw new UsageError(`${place} and ${other} exclude each other: servers run in one place.`)
  if (words.resume !== undefined && place !== undefined)
    throw new UsageError(`--resume goes on as the run was begun: leave out ${place}.`)
  if (docker || kubernetes) assertFitsContainers(words)
  if (target === undefined && words.without !== undefined)
    throw new UsageError('--without goes with --target alone: of its own apps the grid knows what they lack.')
  const cluster = readCluster(words)
  return target === undefined
    ? { docker, cluster, target: undefined, role: undefined, absent: [] }
    : readTarget(target, words)
}

const OF_A_CLUSTER = ['context', 'namespace', 'server-node', 'generator-node', 'generators'] as const

/** More than one machine could need. */
const MOST_GENERATORS = 32

export function readCluster(words: Words): ClusterSite | undefined {
  if (words.kubernetes !== true) {
    const lost = OF_A_CLUSTER.find((name) => words[name] !== undefined)
    if (lost === undefined) return undefined
    throw new UsageError(`--${lost} goes with --kubernetes alone.`)
  }
  for (const option of ['server-node', 'generator-node'] as const)
    if (words[option] !== undefined) readNodeSelector(`--${option}`, words[option])
  return {
    context: words.context ?? null,
    namespace: words.namespace ?? NAMESPACE,
    serverNode: words['server-node'] ?? null,
    generatorNode: words['generator-node'] ?? null,
    generators: readInteger('--generators', words.generators ?? '1', 1, MOST_GENERATORS),
  }
}

const CONTAINER_TOPOLOGIES = ['direct', 'nginx']

function assertFitsContainers({ topology = '' }: Words): void {
  const names = topology === '' ? [] : topology.split(',').map((name) => name.trim())
  const other = names.find((name) => name.startsWith('nginx-') && !CONTAINER_TOPOLOGIES.includes(name))
  if (other !== undefined)
    throw new UsageError(`There is no ${other} in containers, only ${CONTAINER_TOPOLOGIES.join(' and ')}.`)
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
    cluster: undefined,
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
