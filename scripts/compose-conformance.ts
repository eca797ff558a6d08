import type { Options } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import {
  addressInside,
  COMPOSE_TOPOLOGIES,
  type ComposeTopology,
  FRONT_SERVICE,
  serviceName,
} from '@startgrid/grid/compose.ts'
import type { ComposeService } from '@startgrid/grid/compose-project.ts'

/** One of the two ports of an app, and what the suite must know about it; no options if nothing runs there. */
export interface Cell {
  app: App
  topology: ComposeTopology
  options: (Options & { target: { host: string; port: number } }) | undefined
}

/** Both ports of every app that Compose has started. */
export function listCells(services: readonly ComposeService[]): Cell[] {
  const find = (name: string) => services.find((service) => service.name === name)
  return APPS.filter((app) => find(serviceName(app))).flatMap((app) =>
    COMPOSE_TOPOLOGIES.map((topology) => {
      const isBehind = topology === 'nginx'
      const service = find(isBehind ? FRONT_SERVICE : serviceName(app))
      const inside = addressInside(app, topology).port
      const port = service?.ports.find(({ target }) => target === inside)
      if (service?.state !== 'running' || port === undefined) return { app, topology, options: undefined }
      const target = { host: port.host, port: port.published }
      const proxied = isBehind || app.runtime === 'nginx'
      const { role, absent } = app
      return { app, topology, options: { target, role, absent, proxied, compressed: isBehind } }
    }),
  )
}
