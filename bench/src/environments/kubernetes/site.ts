import { UsageError } from '@startgrid/cli/arguments.ts'
import type { Permission } from '@startgrid/grid/kubernetes-cluster.ts'

/** Which nodes of a cluster a run may use, and what it must be allowed to do there. Pure. */

/** Labels that a node must have, by name. */
export type NodeLabels = Readonly<Record<string, string>>

/** A label is `name=value`; a name alone is that of a node. */
const LABEL = /^([A-Za-z0-9][A-Za-z0-9._/-]*)=([A-Za-z0-9._-]*)$/
const NODE_NAME = /^[a-z0-9][a-z0-9.-]*$/

/**
 * Reads what was given to `--server-node` or `--generator-node`: `node1`, or labels such as `pool=bench,disk=ssd`.
 * @throws {UsageError} saying what is possible
 */
export function readNodeSelector(option: string, text: string): NodeLabels {
  if (NODE_NAME.test(text)) return { 'kubernetes.io/hostname': text }
  const labels = text.split(',').map((part) => LABEL.exec(part.trim()))
  if (labels.some((found) => found === null))
    throw new UsageError(
      `${option} is '${text}', but must be the name of a node, or labels of nodes such as pool=bench.`,
    )
  return Object.fromEntries(labels.flatMap((found) => (found === null ? [] : [[found[1], found[2]]])))
}

/** All in the namespace. deploy/kubernetes/bench grants them. */
export const PERMISSIONS: readonly Permission[] = [
  ...['create', 'get', 'list', 'delete'].map((verb) => ({ verb, resource: 'pods' })),
  // Clusters ask for one or the other, by version: commands run over a WebSocket, which begins with a GET.
  ...['create', 'get'].map((verb) => ({ verb, resource: 'pods/exec' })),
  ...['create', 'list', 'patch', 'delete'].map((verb) => ({
    verb,
    resource: 'leases',
    group: 'coordination.k8s.io',
  })),
]

/** Without it, facts of nodes come from pods. */
export const READ_NODES: Permission = { verb: 'list', resource: 'nodes', everywhere: true }

/** One sentence. */
export function describeMissing(missing: readonly Permission[], namespace: string): string {
  const byResource = Map.groupBy(missing, ({ resource }) => resource)
  const parts = [...byResource].map(
    ([resource, own]) => `${own.map(({ verb }) => verb).join(', ')} ${resource}`,
  )
  return (
    `--kubernetes cannot be used here: this account may not ${parts.join('; ')} in the namespace ${namespace}. ` +
    'kubectl apply -k deploy/kubernetes/bench makes a Role that may.'
  )
}
