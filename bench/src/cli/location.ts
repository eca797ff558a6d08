import { split, UsageError } from '@startgrid/cli/arguments.ts'
import type { Values } from '@startgrid/cli/options.ts'
import { CAPABILITIES, type Capability } from '@startgrid/conformance'
import { findRole, ROLES } from '@startgrid/grid/apps.ts'
import { NAMESPACE } from '@startgrid/grid/kubernetes.ts'
import { readNodeSelector } from '../environments/kubernetes/site.ts'
import { readOrigin } from '../environments/running/origin.ts'
import type { ClusterSite, ServerLocation } from '../experiment/options.ts'
import type { GRID, STUDY } from './option-table.ts'

type Words = Pick<Values<typeof GRID>, 'docker' | 'topology' | 'target' | 'role' | 'without'> & ClusterWords

type ClusterWords = Pick<
  Values<typeof STUDY>,
  'kubernetes' | 'context' | 'namespace' | 'server-node' | 'generator-node' | 'generators'
>

/** Where the servers are. @throws {UsageError} and UnknownName of the grid for what cannot be combined */
export function readSite(words: Words): ServerLocation {
  const { docker, kubernetes, target, topology = '' } = words
  const inContainers = ['direct', 'nginx']
  const other = split(topology).find((name) => name.startsWith('nginx-') && !inContainers.includes(name))
  if ((docker || kubernetes) && other !== undefined)
    throw new UsageError(`There is no ${other} in containers, only ${inContainers.join(' and ')}.`)
  const cluster = readCluster(words)
  return target === undefined
    ? { docker, cluster, target: undefined, role: undefined, absent: [] }
    : readTarget(target, words)
}

export function readCluster(words: ClusterWords): ClusterSite | undefined {
  if (!words.kubernetes) return undefined
  for (const option of ['server-node', 'generator-node'] as const)
    if (words[option] !== undefined) readNodeSelector(`--${option}`, words[option])
  return {
    context: words.context ?? null,
    namespace: words.namespace ?? NAMESPACE,
    serverNode: words['server-node'] ?? null,
    generatorNode: words['generator-node'] ?? null,
    generators: words.generators ?? 1,
  }
}

function readTarget(target: string, { role, without }: Words): ServerLocation {
  if (role === undefined || role.includes(','))
    throw new UsageError(`--target needs the --role of the app that runs there, one of ${ROLES.join(', ')}.`)
  return {
    docker: false,
    cluster: undefined,
    target: readOrigin(target),
    role: findRole(role),
    absent: without === undefined ? [] : split(without).map(readCapability),
  }
}

function readCapability(name: string): Capability {
  const found = CAPABILITIES.find((one) => one === name)
  if (found === undefined)
    throw new UsageError(`--without is '${name}', but must be ${CAPABILITIES.join(' or ')}.`)
  return found
}
