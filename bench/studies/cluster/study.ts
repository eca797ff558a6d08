import { formatMicros, formatMs, formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import { exactly } from '@startgrid/loadgen/expectation.ts'
import type { Claim, Measured, Study, System, Workload } from '../../src/result/experiment.ts'
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
const claim = (
  metric: Metric,
  says: string,
  published: Claim['published'],
  because: NonNullable<Claim['because']>,
): Claim => ({
  id: metric === 'rate' ? 'mean-rate' : metric,
  says,
  metric,
  published,
  because,
  race: metric === 'rate' ? 'source' : AUTOCANNON,
  over: 'cluster-4',
  under: 'single',
})

/** What the source ran. It opens its 10,000 connections while it counts, so that most of its ten seconds are the beginning. */
const AUTOCANNON = 'as the source, by autocannon'

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
    claim('rate', 'With 4 workers the mean rate is 3.4 times as high', [8838, 2601.2], explainRate),
    claim(
      'median-rate',
      'With 4 workers the median rate of a second is 2.4 times as high',
      [3453, 1427],
      () =>
        'In the source one second of 51,615 responses carries the mean: nine of its ten seconds were below 3,454.',
    ),
    claim('median-latency', 'The median latency falls from 532 to 93 ms', [93, 532], explainLatency),
    claim(
      'p97.5-latency',
      'The latency at p97.5 does not change (4,234 and 4,362 ms)',
      [4362, 4234],
      explainLatency,
    ),
    claim(
      'p99-latency',
      'The latency at p99 does not change (5,610 and 5,615 ms)',
      [5615, 5610],
      explainLatency,
    ),
  ],
}

function explainRate({ value, coreUse }: Measured): string | null {
  const one = value('source', 'single', 'cpu')
  const four = value('source', 'cluster-4', 'cpu')
  const use = coreUse('source', 'cluster-4')
  if (one === undefined || four === undefined || use === undefined) return null
  return `A request costs ${formatMicros(one)} µs of CPU with one process and ${formatMicros(four)} with four, which kept ${formatPercent(use)} of their cores busy.`
}

const PERCENTILES = ['median-latency', 'p97.5-latency', 'p99-latency'] as const

/** Little's law: in a closed loop, 10,000 connections wait for one response each. */
function explainLatency({ value, openRate }: Measured): string | null {
  const describe = (race: string) => {
    const [one, four] = ['single', 'cluster-4'].map((system) =>
      PERCENTILES.flatMap((metric) => value(race, system, metric) ?? []),
    )
    if (one?.length !== PERCENTILES.length || four?.length !== PERCENTILES.length) return null
    const ms = (all: readonly number[]) => all.map((seconds) => formatMs(seconds * 1000)).join(', ')
    return `${ms(one)} ms with one process, ${ms(four)} with four`
  }
  const open = describe('source')
  const closed = describe(AUTOCANNON)
  const rate = openRate('source')
  if (open === null || closed === null || rate === undefined) return null
  return (
    `Median, p97.5 and p99 in autocannon's closed loop, which is 10,000 connections divided by the rate: ${closed}. At the same ` +
    `${formatRate(rate)} requests per second for both: ${open}.`
  )
}
