import { after, before, describe, test } from 'node:test'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type Lineup, startLineup } from '../src/lineup.ts'
import { APPS, type App, ROLES, TOPOLOGIES, type Topology } from '../src/matrix.ts'

/** Every app, in every topology, against every line of docs/contract.md. `pnpm test` makes its matrix from these names. */

const nginx = await findNginx()

for (const role of ROLES) {
  describe(`conformance of ${role}`, () => {
    const apps = APPS.filter((app) => app.role === role)
    let lineup: Lineup

    before(async () => {
      lineup = await startLineup({
        apps,
        topologies: TOPOLOGIES,
        nginx: nginx.kind === 'none' ? undefined : nginx,
      })
    })
    after(() => lineup.stop())

    for (const app of apps) {
      for (const topology of TOPOLOGIES) {
        test(`${app.name} ${topology}`, { skip: skipReason(app, topology) }, () =>
          conforms(lineup, app, topology),
        )
      }
    }
  })
}

function skipReason(app: App, topology: Topology): string | false {
  if (nginx.kind !== 'none' || (topology === 'direct' && app.framework !== 'njs')) return false
  return nginx.describe()
}

async function conforms(lineup: Lineup, app: App, topology: Topology): Promise<void> {
  const target = lineup.target(app, topology)
  if (target === undefined) throw new Error(lineup.failures.get(app.name) ?? `${app.name} was not started`)
  const proxied = topology !== 'direct' || app.framework === 'njs'
  const report = await checkConformance({ target, role: app.role, absent: app.absent, proxied })
  if (report.differences.length > 0) throw new Error(`\n${formatReport(report)}`)
}
