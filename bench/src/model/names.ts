import { listOf } from '@startgrid/cli/text.ts'
import type { Cell } from './cell.ts'
import type { Metric } from './figures.ts'
import type { ClusterNode } from './provenance.ts'
import type { RaceResult } from './result.ts'

/** What people call what is measured. */

/** What a metric is called in a sentence. */
export const METRIC_NAMES: Readonly<Record<Metric, string>> = { rate: 'req/s', cpu: 'CPU per request' }

/** Its title, with what makes it unlike others of that: `njs (qjs)`. */
export function nameOf({ title, engine }: Pick<Cell, 'title' | 'engine'>): string {
  return engine === null ? title : `${title} (${engine.split(' ', 1)[0]})`
}

/** The mode in words: `native processes`, `containers`, `pods on node1, loaded from node2`, `http://10.0.0.9:3000, which already ran`. */
export function describeServers({
  mode,
  target,
  cluster,
}: Pick<RaceResult, 'mode' | 'target'> & Partial<Pick<RaceResult, 'cluster'>>): string {
  switch (mode) {
    case 'native':
      return 'native processes'
    case 'docker':
      return 'containers'
    case 'kubernetes':
      return describePods(cluster?.nodes ?? [])
    case 'target':
      return `${target?.origin}, which already ran`
  }
}

function describePods(nodes: readonly ClusterNode[]): string {
  const namesOf = (role: ClusterNode['role']) =>
    nodes.filter((node) => node.role === role).map(({ name }) => name)
  const [servers, generators] = [namesOf('servers'), namesOf('generators')]
  return servers.length === 0 ? 'pods' : `pods on ${listOf(servers)}, loaded from ${listOf(generators)}`
}

/** Nodes of one kernel share processors. @returns a clause; null if each node is a machine of its own, as far as is known */
export function describeSharedMachine(nodes: readonly ClusterNode[]): string | null {
  const known = nodes.filter(({ bootId }) => bootId !== null)
  const shared = [...Map.groupBy(known, ({ bootId }) => bootId).values()]
    .map((own) => [...new Set(own.map(({ name }) => name))])
    .find((names) => names.length > 1)
  return shared === undefined
    ? null
    : `${listOf(shared)} are nodes of one machine, so servers and generators share its processors`
}
