import { imageOn } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { fitTo } from '../../experiment/cells.ts'
import type { Cell } from '../../model/cell.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { ClusterRecord, NginxVersion } from '../../model/provenance.ts'
import type { Settings } from '../../model/settings.ts'
import { readProof, suiteWords } from '../conformance.ts'
import {
  type Environment,
  type EnvironmentOptions,
  frameworkOf,
  isInNginx,
  type Placed,
  systemOf,
} from '../environment.ts'
import { GENERATOR, whyNotInPods } from './pods.ts'
import { type ClusterContext, prepareCluster } from './prepare.ts'
import { startServerPod } from './servers.ts'

/**
 * The servers of a heat are one pod, and the generators are pods on other nodes. Gets everything ready that lasts for the whole run. What has no image,
 * or is not measured by load from elsewhere, is skipped with the reason.
 * @param record filled in place, also while the run goes on
 * @throws {UsageError} one sentence: what is missing
 */
export async function openKubernetes(
  experiment: Experiment,
  cells: readonly Cell[],
  { record, ...options }: EnvironmentOptions & { record: ClusterRecord },
): Promise<Environment> {
  const placed = (own: readonly Cell[]): Placed[] =>
    own.map((cell) => ({ cell, system: systemOf(experiment, cell) }))
  for (const { cell, system } of placed(cells)) cell.skipped = whyNotInPods(system, cell)
  const own = placed(cells.filter(({ skipped }) => skipped === null))
  const races = [...Map.groupBy(own, ({ cell }) => cell.race).values()]
  const largest = races.toSorted((one, other) => other.length - one.length)[0] ?? []
  const frameworks = own.flatMap(({ system }) => frameworkOf(system) ?? [])
  const needs = { images: [...new Set([...frameworks, FRONT_SERVICE])], largest }
  const context = await prepareCluster(record, needs, options)
  const { cluster, generators, scouted } = context
  fitTo(cells, record.nodes[0]?.cpus.length ?? 1)
  const nginx = nginxOf(context)
  const needing = own.filter(({ system }) => system.nginx !== undefined || isInNginx(system))
  for (const { cell } of needing) cell.nginx = nginx
  const njsEngine = nginx.njs ? `${nginx.njs.engine} in NGINX ${nginx.version}` : undefined
  let pods = 0
  let isFirst = true
  return {
    cores: coresOf(record),
    generator: generators.source,
    facts: factsOf(context),
    nginx: needing.length > 0 ? nginx : null,
    hasCeiling: true,
    // Images say it all, but for the configuration of NGINX, which is made for each heat.
    ingredients: (cell) => ({
      files: ['bench/src/environments/kubernetes', 'nginx/conf'],
      facts: [
        ...[frameworkOf(systemOf(experiment, cell)) ?? '', FRONT_SERVICE].map(
          (image) => scouted.images.get(image)?.id,
        ),
        generators.imageId,
      ],
    }),
    start: async (loaded, { pinned }) => {
      const servers = await startServerPod(placed(loaded), context, {
        name: `servers-${++pods}`,
        njsEngine,
      })
      const [idle] = servers.running.values()
      // Once, while nothing is asked of it; the proof asks at once.
      if (pinned && isFirst && idle !== undefined && 'port' in idle.target) {
        isFirst = false
        record.roundTripMs = await generators.roundTripMs(idle.target)
      }
      return servers
    },
    prove: async ({ target }, contract) => {
      const words = ['node', ...suiteWords(target, contract)]
      const { stdout, stderr } = await cluster.run(generators.first, GENERATOR, words)
      return readProof(stdout, stderr)
    },
    close: async () => {
      await generators.close()
      // What the cluster does not remove now, the next run removes.
      await context.run.end().catch(() => {})
    },
  }
}

/** Null where the servers have more than one, and so do not share it. */
function coresOf({ nodes: [servers, generators] }: ClusterRecord): Settings['cores'] {
  const [server, ...more] = servers?.cpus ?? []
  return server === undefined || more.length > 0 ? null : { server, generator: generators?.cpus[0] ?? 0 }
}

function factsOf({ record: { nodes }, scouted: { images } }: ClusterContext): Environment['facts'] {
  const [servers] = nodes
  const versions = readVersions()
  const node = [...images.values()].find(({ says }) => /^v\d/.test(says))
  return {
    ...(servers !== undefined && { machine: servers.machine }),
    versions: {
      ...versions,
      node: node?.says.replace(/^v/, '') ?? 'unknown',
      bun: images.get(imageOn('bun', images) ?? '')?.says ?? versions.bun,
    },
  }
}

/** What the images say. */
function nginxOf({ scouted: { images } }: ClusterContext): NginxVersion {
  const version = /nginx\/(\S+)/.exec(images.get(FRONT_SERVICE)?.says ?? '')?.[1] ?? 'unknown'
  const own = images.get(imageOn('nginx', images) ?? '')?.says.split('\n')
  const njs = own === undefined ? null : { version: 'unknown', engine: own[1]?.trim() || 'njs' }
  return { kind: 'kubernetes', version, njs }
}
