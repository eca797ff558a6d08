import type { App, Topology } from '@startgrid/grid/matrix.ts'

/** What one number belongs to: an app and how requests reach it, on its role's main workload. */
export interface Cell {
  app: App
  topology: Topology
}

export function cellName({ app, topology }: Cell): string {
  return `${app.name} ${topology}`
}

/** Every chosen app in every chosen topology. */
export function createCells(apps: readonly App[], topologies: readonly Topology[]): Cell[] {
  return apps.flatMap((app) => topologies.map((topology) => ({ app, topology })))
}
