import { exactly } from '@startgrid/loadgen/expectation.ts'
import type { Claim, Study, System, Workload } from '../../src/result/experiment.ts'
import type { Metric } from '../../src/result/metrics.ts'
import { toolRace } from '../tool.ts'

const hello = (title: string, role: 'single' | 'cluster'): System => ({
  title,
  app: { package: 'bench/studies/cluster/subjects/express', role },
  warmupMs: 1500,
})

const SYSTEMS: Readonly<Record<string, System>> = {
  single: hello('one process', 'single'),
  'cluster-4': { ...hello('node:cluster, 4 workers', 'cluster'), cores: 4 },
}

const HELLO: Workload = { path: '/', expect: exactly('Hello World!') }

/** Four workers against one, at the source's 10,000 connections. */
const claim = (metric: Metric, says: string, published: Claim['published'], because?: string): Claim => ({
  id: metric === 'rate' ? 'mean-rate' : metric,
  says,
  metric,
  published,
  ...(because !== undefined && { because }),
  race: metric === 'rate' ? 'source' : AUTOCANNON,
  over: 'cluster-4',
  under: 'single',
})

/** What the source ran. It opens its 10,000 connections while it counts, so that most of its ten seconds are the beginning. */
const AUTOCANNON = 'as the source, by autocannon'

/** Little's law. */
const CLOSED =
  'In a closed loop 10,000 connections wait for one response each, so that latencies follow from the rate; in the open loop of the other race both have one rate.'

/** See docs/studies/cluster.md. */
export const clusterStudy: Study = {
  name: 'cluster',
  title: 'one Express against four of them',
  question:
    'How much faster does an Express server become on several cores, and what becomes of its latencies?',
  source: {
    title: '10X Your JS Web Servers',
    url: 'https://github.com/tuphan-dn/clusterized-express',
    machine: 'MacBook with M2 Pro, 16 GB, 2024',
    tool: 'autocannon -c 10000 -d 10',
  },
  systems: SYSTEMS,
  races: {
    source: {
      systems: Object.keys(SYSTEMS),
      workload: HELLO,
      connections: 10_000,
      sliceMs: 5000,
      openLoop: Object.keys(SYSTEMS),
    },
    [AUTOCANNON]: toolRace(Object.keys(SYSTEMS), {
      name: 'autocannon',
      connections: 10_000,
      seconds: 10,
      path: HELLO.path,
    }),
  },
  claims: [
    claim('rate', 'With 4 workers the mean rate is 3.4 times as high', [8838, 2601.2]),
    claim(
      'median-rate',
      'With 4 workers the median rate of a second is 2.4 times as high',
      [3453, 1427],
      'In the source one second of 51,615 responses carries the mean: nine of its ten seconds were below 3,454.',
    ),
    claim('median-latency', 'The median latency falls from 532 to 93 ms', [93, 532], CLOSED),
    claim('p97.5-latency', 'The latency at p97.5 does not change (4,234 and 4,362 ms)', [4362, 4234], CLOSED),
    claim('p99-latency', 'The latency at p99 does not change (5,610 and 5,615 ms)', [5615, 5610], CLOSED),
  ],
}
