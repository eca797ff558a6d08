import { CONNECTIONS } from '../../src/experiment/profiles.ts'
import { WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Claim, Study } from '../../src/model/experiment.ts'

const NAMES = [1, 2, 3, 4, 5, 6, 7].map((number) => `node-${number}`)

const claimOf = (name: string): Claim => ({
  id: name,
  says: `${name} is as fast as node-1: it is the same app`,
  race: 'hello',
  metric: 'rate',
  over: name,
  under: 'node-1',
  published: [1, 1],
})

/** One app under seven names: whatever difference is found, there is none. */
export const selfcheck: Study = {
  name: 'selfcheck',
  title: 'one app against itself under seven names',
  question: 'Does this machine show a difference where there is none?',
  systems: Object.fromEntries(
    NAMES.map((name) => [name, { title: name, app: { package: 'apps/node', role: 'hello' } }]),
  ),
  races: { hello: { systems: NAMES, workload: WORKLOADS.hello, connections: CONNECTIONS.hello } },
  claims: NAMES.slice(1).map(claimOf),
}
