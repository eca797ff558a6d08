import type { App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE } from '@startgrid/grid/compose.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { Address } from '@startgrid/nginx/address.ts'
import type { CellSpec } from '../../model/result.ts'
import { appOf, proxyWorkers } from '../../plan/cells.ts'
import { hostOf } from '../docker/project.ts'
import { balancerPod, frontPortOf, portOf, serverPod, serviceOf } from './pods.ts'
import { type ClusterContext, serverPlacement, startServerPod } from './prepare.ts'
import { KubernetesServers, type ServerPod } from './servers.ts'
import { stopPod } from './start.ts'

/** On the pods of one group of replicas. */
const GROUP = 'startgrid.dev/bench-replicas'

/**
 * Starts an app in several pods, which are spread over the nodes of the servers, and the Service or the NGINX in front of them. No generator
 * runs on those nodes.
 * @param number of what this run starts: each has names of its own
 * @throws {Error} a sentence; nothing is left running
 */
export async function startReplicas(
  context: ClusterContext,
  cell: CellSpec,
  number: number,
  njsEngine: string | null,
): Promise<KubernetesServers> {
  const { cluster, run, record } = context
  const app = appOf(cell)
  const selector = { [GROUP]: `${run.name}-${number}` }
  const pods: ServerPod[] = []
  const serviceName = `${run.name}-service-${number}`
  const onStop = async () => {
    if (cell.topology === 'direct') await cluster.removeService(serviceName)
  }
  try {
    pods.push(...(await startCopies(context, { app, count: cell.replicas ?? 1, number, selector })))
    const target =
      cell.topology === 'direct'
        ? await startService(context, serviceName, selector)
        : await startBalancer(context, { app, pods, number })
    return new KubernetesServers({
      ...{ cluster, pods, record, onStop },
      partsOf: () => ({ app: hostOf(app), proxy: cell.topology === 'direct' ? null : FRONT_SERVICE }),
      targetOf: () => target,
      engineOf: () => (app.framework === 'njs' ? njsEngine : null),
    })
  } catch (error) {
    await onStop().catch(() => {})
    await Promise.all(pods.map(({ started }) => stopPod(cluster, started.pod.metadata?.name ?? '')))
    throw error
  }
}

interface Copies {
  app: App
  count: number
  number: number
  selector: Record<string, string>
}

/** All that started are removed again if one does not. */
async function startCopies(
  context: ClusterContext,
  { app, count, number, selector }: Copies,
): Promise<ServerPod[]> {
  const { cluster, run, record, generators } = context
  const placement = {
    ...serverPlacement(record),
    notNodes: [...generators.views.keys()],
    spread: selector,
  }
  const starts = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => {
      const metadata = run.metadata(`servers-${number}-${index + 1}`, 'servers')
      const labelled = { ...metadata, labels: { ...metadata.labels, ...selector } }
      return startServerPod(context, serverPod(labelled, placement, { apps: [app], proxied: false }))
    }),
  )
  const started = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = starts.find((one) => one.status === 'rejected')
  const [broken] = started.flatMap(({ started: { failures } }) => [...failures.values()])
  if (failed === undefined && broken === undefined) return started
  await Promise.all(started.map(({ started: { pod } }) => stopPod(cluster, pod.metadata?.name ?? '')))
  throw failed === undefined ? new Error(`a replica did not start: ${broken}`) : failed.reason
}

/** Made when all replicas are ready: then a node learns of all of them at once, and the first connection shows that it did. */
async function startService(
  { cluster, run, generators }: ClusterContext,
  name: string,
  selector: Record<string, string>,
): Promise<Target> {
  const { spec } = await cluster.createService(
    serviceOf({ ...run.metadata('service', 'servers'), name }, selector),
  )
  const target = { host: spec?.clusterIP ?? '', port: portOf(0) }
  await generators.untilReached(target)
  return target
}

/** Its pod is added to the others. */
async function startBalancer(
  context: ClusterContext,
  { app, pods, number }: { app: App; pods: ServerPod[]; number: number },
): Promise<Target> {
  const { run, placement } = context
  const [first, ...others] = pods.map(
    ({ started }): Address => ({ host: started.pod.status?.podIP ?? '', port: portOf(0) }),
  )
  if (first === undefined) throw new Error('There is no replica.')
  const metadata = run.metadata(`balancer-${number}`, 'servers')
  const options = { app, replicas: [first, ...others] as const, workers: proxyWorkers(pods.length) }
  const pod = await startServerPod(context, balancerPod(metadata, placement, options))
  pods.push(pod)
  const [failure] = pod.started.failures.values()
  if (failure !== undefined) throw new Error(`NGINX does not start: ${failure}.`)
  return { host: pod.started.pod.status?.podIP ?? '', port: frontPortOf(0) }
}
