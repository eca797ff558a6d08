import { after, before, describe, test } from 'node:test'
import { isTested, sample } from '@startgrid/cli/test-run.ts'
import { formatReport } from '@startgrid/conformance'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { APPS, type App, ROLES, TOPOLOGIES, type Topology } from '../src/apps.ts'
import { type Lineup, startLineup } from '../src/lineup.ts'
import { ConformanceThread } from './conformance-thread.ts'

/**
 * Every app against every line of docs/contract.md: in a full run in every topology and on both engines of njs. In a short one all are
 * tried directly, and a quarter of them in one other topology. `pnpm test` makes its matrix from these names.
 */

const front = await findNginx()
const suite = new ConformanceThread()
after(() => suite.stop())
const nginx = front.kind === 'none' ? undefined : front
// Found before the first describe: node:test runs `after` as soon as no test is left, also while this file awaits something.
const runners = { njs: await findEngine('njs'), qjs: await findEngine('qjs') }
const PROXIED = TOPOLOGIES.filter((topology) => topology !== 'direct')

const tested = APPS.filter(isTested)
const behind = new Set(sample('apps in other topologies', tested, Math.ceil(tested.length / 4)))

for (const role of ROLES) {
  const apps = tested.filter((app) => app.role === role)
  const topologies: Topology[] = ['direct', ...sample(`conformance of ${role}`, PROXIED, 1)]
  const others = apps.filter((app) => app.runtime !== 'nginx')
  const isChosen = (app: App, topology: Topology) => topology === 'direct' || behind.has(app)
  describe(`conformance of ${role}`, () => proveAll(others, topologies, isChosen, {}, (app) => app.name))

  for (const engine of sample(`engine of ${role}`, ['njs', 'qjs'] as const, 1)) {
    const runner = runners[engine]
    const skip = runner
      ? false
      : `no NGINX here runs njs on ${engine}: the image nginx:1.30 has qjs, Debian's packages have njs`
    const env = { STARTGRID_NGINX: runner?.choice ?? '' }
    const [app] = apps.filter((one) => one.runtime === 'nginx')
    if (app === undefined) continue
    describe(`conformance of ${role} on njs's engine ${engine}`, () =>
      proveAll([app], topologies, isChosen, env, ({ name }) => `${name} (${engine})`, skip))
  }
}

/** One test per app and chosen topology. */
function proveAll(
  apps: readonly App[],
  topologies: readonly Topology[],
  isChosen: (app: App, topology: Topology) => boolean,
  env: Record<string, string>,
  label: (app: App) => string,
  absent: string | false = false,
): void {
  let lineup: Lineup | undefined
  before(async () => {
    if (absent === false && apps.length > 0)
      lineup = await startLineup({
        apps,
        topologies,
        isWanted: isChosen,
        nginx,
        env: { ...env, LOG_LEVEL: 'info' },
      })
  })
  after(() => lineup?.stop())

  for (const app of apps) {
    for (const topology of topologies.filter((one) => isChosen(app, one))) {
      const skip = absent || (topology !== 'direct' && front.kind === 'none' && front.describe())
      test(`${label(app)} ${topology}`, { skip }, () => conforms(lineup, app, topology))
    }
  }
}

async function conforms(lineup: Lineup | undefined, app: App, topology: Topology): Promise<void> {
  const target = lineup?.target(app, topology)
  if (target === undefined)
    throw new Error(
      lineup?.failures.get(app.name) ?? lineup?.failures.get(topology) ?? `${app.name} was not started`,
    )
  const proxied = topology !== 'direct' || app.runtime === 'nginx'
  const launched = topology === 'direct' ? lineup?.launched(app, topology) : undefined
  const options = {
    target,
    role: app.role,
    absent: app.absent,
    proxied,
    compressed: topology !== 'direct',
    ...(launched && { log: launched.output }),
  }
  const report = await suite.check(options)
  if (report.differences.length > 0) throw new Error(`\n${formatReport(report)}`)
}

/** An NGINX of this machine with the wanted engine, and how to ask for it. */
async function findEngine(engine: string): Promise<{ choice: string; nginx: Nginx } | undefined> {
  for (const choice of ['path', 'download']) {
    const found = await findNginx({ choice, download: false })
    if (found.kind !== 'none' && found.njs?.engine === engine) return { choice, nginx: found }
  }
  return undefined
}
