import { formatPercent, formatRate, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import { describeMachine as machineInWords } from '@startgrid/machine/machine.ts'
import { describeVersions as versionsInWords } from '@startgrid/machine/provenance.ts'
import { PROFILES, TARGET_EFFORT } from '../experiment/profiles.ts'
import type { ClusterNode } from '../model/provenance.ts'
import type { RaceResult } from '../model/result.ts'

/** Where a result comes from. */

/** Sentences: the time, the machine, what ran there, and what was proven. */
export function provenanceOf(result: RaceResult): string[] {
  const { startedAt, finishedAt, conformance } = result
  const proven = conformance.filter(({ differences }) => differences.length === 0).length
  const ended = finishedAt === null ? 'an interruption' : formatTimestamp(finishedAt)
  const cluster = describeCluster(result)
  return [
    `When: ${formatTimestamp(startedAt)} to ${ended}, heats in a random order from the seed.`,
    `Machine: ${describeMachine(result)}.`,
    ...(cluster === undefined ? [] : [`Cluster: ${cluster}.`]),
    `Cores: ${describeCores(result)}.`,
    `Driver: ${describeDriver(result)}.`,
    `Versions: ${describeVersions(result)}.`,
    `Proxy: ${describeNginx(result)}.`,
    `Source: ${describeSource(result)}.`,
    `Contract: ${proven} of ${plural(conformance.length, 'cell')} passed the suite.`,
  ]
}

/** `startgrid 1.0.0, ceiling 150,000 req/s (NGINX's return 200)` */
function describeDriver({ driver: { name, version, ceiling }, cluster }: RaceResult): string {
  const generators =
    cluster === null || cluster.generators === 1 ? '' : ` with ${cluster.generators} generators`
  const driver = `${name} ${version}${generators}`
  if (ceiling === null) return `${driver}, its ceiling was not measured`
  const where = cluster === null ? '' : ' on the node of the servers'
  return `${driver}, ceiling ${formatRate(ceiling)} req/s (NGINX's return 200${where})`
}

/** The way between the nodes, and what pods can see: a phrase. Undefined outside of a cluster. */
function describeCluster({ cluster }: RaceResult): string | undefined {
  if (cluster === null) return undefined
  const { version, context, namespace, roundTripMs, agent } = cluster
  const where = `Kubernetes ${version ?? 'of an unknown version'}, ${context === null ? '' : `context ${context}, `}namespace ${namespace}`
  const way =
    roundTripMs === null ? '' : `, ${roundTripMs.toFixed(2)} ms to open a connection between the nodes`
  const share = agent.seconds > 0 ? agent.cpuSeconds / agent.seconds : null
  const own =
    share === null ? '' : `; the agent beside the servers used ${formatPercent(share)} of a core meanwhile`
  return `${where}${way}${own}. Pods see how long they waited for a core, but not what others used of it`
}

function describeCores({ mode, settings: { cores }, cluster }: RaceResult): string {
  if (cluster !== null)
    return `app and proxy on ${coresOf(cluster.nodes, 'servers')}, generators on ${coresOf(cluster.nodes, 'generators')}`
  if (mode === 'target')
    return `${cores === null ? 'the generator was not pinned to a core' : `generator on core ${cores.generator}`}, the server wherever it runs`
  if (cores === null) return 'nothing was pinned to a core, and the figures include that noise'
  return `app and proxy on core ${cores.server}, generator on core ${cores.generator}`
}

export function describeNginx({ mode, nginx }: Pick<RaceResult, 'mode' | 'nginx'>): string {
  if (mode === 'target') return 'what stands in front of the server is not known'
  if (nginx === null) return 'no NGINX'
  const njs = nginx.njs === null ? 'no njs' : `njs ${nginx.njs.version} on engine ${nginx.njs.engine}`
  return `NGINX ${nginx.version} (${nginx.kind}), ${njs}`
}

function coresOf(nodes: readonly ClusterNode[], role: ClusterNode['role']): string {
  const own = nodes.filter((node) => node.role === role)
  return listOf(
    own.map(({ name, cpus }) => `${cpus.length === 1 ? 'one CPU' : `${cpus.length} CPUs`} of ${name}`),
  )
}

/** In a cluster every node. */
export function describeMachine({
  mode,
  machine,
  cluster,
}: Pick<RaceResult, 'mode' | 'machine' | 'cluster'>): string {
  if (cluster !== null)
    return cluster.nodes
      .map((node) => `${node.name} (${node.role}): ${machineInWords(node.machine)}`)
      .join('; ')
  return `${mode === 'target' ? 'generator on ' : ''}${machineInWords(machine)}`
}

function describeVersions({ mode, versions }: Pick<RaceResult, 'mode' | 'versions'>): string {
  if (mode === 'target') return `generator on Node ${versions.node}; what the server runs on is not known`
  return versionsInWords(versions)
}

/** How much was measured. */
export function describeSettings(result: RaceResult): string {
  const { mode, settings, cells, heats } = result
  const { profile, slices, sliceMs, pauseMs, precision } = settings
  const slice = `of ${sliceMs} ms`
  const effort =
    mode === 'target'
      ? `${plural(settings.heats, 'heat')} of ${plural(slices, 'slice')} ${slice}, ${pauseMs / 1000} s apart`
      : `${plural(settings.heats, 'heat')} of each role, each of ${slices === 1 ? '1 pass' : `${slices} passes`} with slices ${slice}`
  const until = precision === null ? '' : `, more until all intervals are within ${precision * 100} %`
  const roles = new Set(cells.filter(({ skipped }) => skipped === null).map(({ role }) => role)).size
  const missing =
    heats.length === roles * settings.heats ? '' : `; ${plural(heats.length, 'heat')} measured in all`
  return `${profile} profile: ${effort}${until}${missing}`
}

/** What the effort can and cannot show: sentences. */
export function describeReach({ mode, settings: { profile } }: RaceResult): string | null {
  if (profile === 'custom')
    return mode === 'target' ? null : 'The effort was set by hand: what it could show is said with each race.'
  if (profile === 'full') return null
  return (mode === 'target' ? TARGET_EFFORT : PROFILES)[profile].shows
}

/** The hash that fixes every dependency, the commit, and the seed of the order. */
export function describeSource({ versions, seed }: Pick<RaceResult, 'versions' | 'seed'>): string {
  return `startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${seed}`
}
