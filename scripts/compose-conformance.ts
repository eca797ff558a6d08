import { checkConformance, type Report } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import {
  addressInside,
  COMPOSE_TOPOLOGIES,
  type ComposeTopology,
  FRONT_SERVICE,
  serviceName,
} from '@startgrid/grid/compose.ts'
import type { ComposeService } from '@startgrid/grid/compose-project.ts'

/** An app and one of the two ways to it. */
export interface Cell {
  app: App
  topology: ComposeTopology
  /** Where it is: on this machine, or in the cluster's network. Undefined if it is not running. */
  target: { host: string; port: number } | undefined
}

/** Both ports of every app that Compose has started, framework by framework. Apps that were not asked for are left out. */
export function listCells(services: readonly ComposeService[]): Cell[] {
  const started = new Map(services.map((service) => [service.name, service]))
  return APPS.filter((app) => started.has(serviceName(app))).flatMap((app) =>
    COMPOSE_TOPOLOGIES.map((topology) => ({ app, topology, target: findTarget(started, app, topology) })),
  )
}

function findTarget(
  services: ReadonlyMap<string, ComposeService>,
  app: App,
  topology: ComposeTopology,
): Cell['target'] {
  const service = services.get(topology === 'direct' ? serviceName(app) : FRONT_SERVICE)
  const inside = addressInside(app, topology).port
  const port = service?.ports.find(({ target }) => target === inside)
  return service?.state === 'running' && port ? { host: port.host, port: port.published } : undefined
}

/**
 * Runs the contract's checks through one port.
 * @param runs random inputs per check; default 50
 * @returns undefined if the service is not running
 * @throws {NoResponse} if it runs, but does not respond
 */
export async function proveCell(
  { app, topology, target }: Cell,
  { runs }: { runs?: number } = {},
): Promise<Report | undefined> {
  if (target === undefined) return undefined
  const proxied = topology === 'nginx' || app.runtime === 'nginx'
  return checkConformance({
    target,
    role: app.role,
    absent: app.absent,
    proxied,
    compressed: topology === 'nginx',
    ...(runs !== undefined && { runs }),
  })
}
