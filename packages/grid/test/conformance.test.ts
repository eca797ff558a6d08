import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import {
  checkConformance,
  formatManners,
  formatReport,
  type Manners,
  mergeManners,
} from '@startgrid/conformance'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { type Lineup, startLineup } from '../src/lineup.ts'
import { APPS, type App, FRAMEWORKS, ROLES, TOPOLOGIES, type Topology } from '../src/matrix.ts'

/** Every app, in every topology, against every line of docs/contract.md. `pnpm test` makes its matrix from these names. */

const front = await findNginx()
const nginx = front.kind === 'none' ? undefined : front

/** What the apps themselves showed, by framework: docs/manners.md says the same. */
const shown = new Map<string, Manners[]>()

for (const role of ROLES) {
  const apps = APPS.filter((app) => app.role === role)
  const others = apps.filter((app) => app.runtime !== 'nginx')
  describe(`conformance of ${role}`, () => proveAll(others, {}, (app) => app.name))

  for (const engine of ['njs', 'qjs'] as const) {
    const runner = await findEngine(engine)
    const skip = runner
      ? false
      : `no NGINX here runs njs on ${engine}: docker pull nginx:1.30 brings qjs, apt-get njs`
    const env = { STARTGRID_NGINX: runner?.choice ?? '' }
    const [app] = apps.filter((one) => one.runtime === 'nginx')
    if (app === undefined) continue
    describe(`conformance of ${role} on njs's engine ${engine}`, () =>
      proveAll([app], env, ({ name }) => `${name} (${engine})`, skip))
  }
}

test('docs/manners.md says what every framework showed', async (t) => {
  const missing = FRAMEWORKS.filter((framework) => (shown.get(framework)?.length ?? 0) < ROLES.length)
  if (missing.length > 0) return t.skip(`not seen in all roles: ${missing.join(', ')}`)
  const document = await readFile(new URL('../../../docs/manners.md', import.meta.url), 'utf8')
  const manners = new Map(
    FRAMEWORKS.map((framework) => [framework, mergeManners(shown.get(framework) ?? [])]),
  )
  assert.equal(document, formatManners(manners), 'write it anew: pnpm conformance --manners')
})

/** One test per app and topology. */
function proveAll(
  apps: readonly App[],
  env: Record<string, string>,
  label: (app: App) => string,
  absent: string | false = false,
): void {
  let lineup: Lineup | undefined
  before(async () => {
    if (absent === false) lineup = await startLineup({ apps, topologies: TOPOLOGIES, nginx, env })
  })
  after(() => lineup?.stop())

  for (const app of apps) {
    for (const topology of TOPOLOGIES) {
      const skip = absent || (topology !== 'direct' && front.kind === 'none' && front.describe())
      test(`${label(app)} ${topology}`, { skip }, () => conforms(lineup, app, topology))
    }
  }
}

async function conforms(lineup: Lineup | undefined, app: App, topology: Topology): Promise<void> {
  const target = lineup?.target(app, topology)
  if (target === undefined) throw new Error(lineup?.failures.get(app.name) ?? `${app.name} was not started`)
  const proxied = topology !== 'direct' || app.runtime === 'nginx'
  const report = await checkConformance({ target, role: app.role, absent: app.absent, proxied })
  if (report.differences.length > 0) throw new Error(`\n${formatReport(report)}`)
  if (topology === 'direct') shown.set(app.framework, [...(shown.get(app.framework) ?? []), report.manners])
}

/** An NGINX of this machine with the wanted engine, and how to ask for it. */
async function findEngine(engine: string): Promise<{ choice: string; nginx: Nginx } | undefined> {
  for (const choice of ['path', 'docker', 'download']) {
    const found = await findNginx({ choice, download: false })
    if (found.kind !== 'none' && found.njs?.engine === engine) return { choice, nginx: found }
  }
  return undefined
}
