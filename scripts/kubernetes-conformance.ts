import type { Report } from '@startgrid/conformance'
import { APPS } from '@startgrid/grid/apps.ts'
import { addressInside, COMPOSE_TOPOLOGIES, FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { Cell } from './compose-conformance.ts'

/** Both ways to every app that the namespace has, framework by framework. */
export async function listClusterCells(cluster: Cluster): Promise<Cell[]> {
  const deployments = await cluster.deployments()
  const isReady = (name: string) => (deployments.get(name)?.status?.readyReplicas ?? 0) > 0
  return APPS.filter((app) => deployments.has(serviceName(app))).flatMap((app) =>
    COMPOSE_TOPOLOGIES.map((topology) => {
      const { host, port } = addressInside(app, topology)
      const runs = isReady(serviceName(app)) && (topology === 'direct' || isReady(FRONT_SERVICE))
      return { app, topology, target: runs ? { host, port } : undefined }
    }),
  )
}

/** Runs the contract's checks of one cell in a pod of the cluster, where the names of Services have addresses. */
export async function proveInside(
  cluster: Cluster,
  pod: string,
  { app, topology, target }: Cell,
): Promise<Report | undefined> {
  if (target === undefined) return undefined
  const proxied = topology === 'nginx' || app.runtime === 'nginx'
  const { stdout, stderr, code } = await cluster.run(pod, 'loadgen', [
    ...[
      'node',
      'packages/conformance/src/cli.ts',
      app.role,
      `http://${target.host}:${target.port}`,
      '--json',
    ],
    ...(proxied ? ['--proxied'] : []),
    ...app.absent.flatMap((capability) => ['--without', capability]),
  ])
  if (code === 0 || code === 1) return JSON.parse(stdout) as Report
  throw new KubernetesError(stderr.trim() || `The suite ended with exit code ${code} and without a report.`)
}
