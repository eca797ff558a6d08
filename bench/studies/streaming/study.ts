import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { pageOf } from '../../src/experiment/workloads.ts'
import type { LoadRace, Study, System, Workload } from '../../src/result/experiment.ts'
import { claimsOf, step } from '../claims.ts'
import { measurePages } from './probe.ts'

/** A page of 50 items, sent whole or streamed: CPU when nothing of it is slow, and the first byte when something is. */

/** Milliseconds of the slow part. */
const SLOW_MS = 50

/** njs cannot stream. */
const FRAMEWORKS = CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => name)

/** A framework with each kind of stream, behind NGINX: Node's and the web's. */
const BEHIND = ['node', 'hono'] as const

const SENT = { whole: '/?items=50', streamed: '/stream?items=50&delay=0' } as const
type Sent = keyof typeof SENT

const ask = (path: string): Workload => ({ ...pageOf(50), path, isProven: true })

const app = (name: string, title: string, nginx?: System['nginx']): System => ({
  title,
  app: { package: `apps/${name}`, role: 'ssr' },
  ...(nginx && { nginx }),
})

/** The page of an app, and how it is sent. */
const sentBy = (name: string, sent: Sent, isBehind = false): System => ({
  ...app(name, `${name}${isBehind ? ', NGINX' : ''}: ${sent}`, isBehind ? { front: 'nginx' } : undefined),
  workload: ask(SENT[sent]),
})

/** The page on node:http and nothing besides: what the difference is made of. */
const WAYS = {
  whole: 'renderToString',
  gathered: 'pipeable, sent at once',
  streamed: 'pipeable, piped',
  web: 'readable, piped',
} as const
type Way = keyof typeof WAYS

const bare = (way: Way): System => ({
  title: WAYS[way],
  app: { package: 'bench/studies/streaming/subjects/node', role: way },
})

const both = (of: (sent: Sent) => readonly [string, System]) => (['whole', 'streamed'] as const).map(of)

const PAGES: Readonly<Record<string, System>> = Object.fromEntries([
  ...FRAMEWORKS.flatMap((name) => both((sent) => [`${name} ${sent}`, sentBy(name, sent)])),
  ...BEHIND.flatMap((name) => both((sent) => [`${name} nginx ${sent}`, sentBy(name, sent, true)])),
])

const PARTS: Readonly<Record<string, System>> = Object.fromEntries(
  Object.keys(WAYS).map((way) => [`bare ${way}`, bare(way as Way)]),
)

const SLOW: Readonly<Record<string, System>> = {
  'slow gathered': bare('gathered'),
  'slow streamed': bare('streamed'),
  'slow web': bare('web'),
  ...Object.fromEntries(FRAMEWORKS.map((name) => [`slow ${name}`, app(name, name)])),
  'slow node nginx': app('node', 'node, NGINX', { front: 'nginx' }),
  'slow node buffered': app('node', 'node, NGINX that buffers', { front: 'bare' }),
}

const race = (systems: Readonly<Record<string, System>>): LoadRace => ({
  systems: Object.keys(systems),
  workload: ask('/'),
  connections: 8,
})

/** See docs/studies/streaming.md. */
export const streaming: Study = {
  name: 'streaming',
  title: 'a React page streamed, or sent whole',
  question: 'What does streaming a page cost, where does that come from, and what does it bring?',
  source: {
    title: 'React issue 24232 and pull request 24291, and pull request 2545 of React on Rails',
    url: 'https://github.com/facebook/react/issues/24232',
    versions: { 'react-dom': '18' },
    machine: 'machines that they do not name',
    tool: 'load tests that they do not describe, and a loop in one process',
  },
  systems: { ...PAGES, ...PARTS, ...SLOW },
  races: {
    page: race(PAGES),
    parts: race(PARTS),
    'a slow part': {
      systems: Object.keys(SLOW),
      expectedMs: 3000,
      probe: (name, context) => {
        const system = SLOW[name]
        if (system === undefined) throw new Error(`There is no system ${name}.`)
        const path = system.app?.role === 'ssr' ? '/stream' : '/'
        return measurePages((slowMs) => `${path}?items=50&delay=${slowMs}`, SLOW_MS, context)
      },
    },
  },
  claims: [
    claimsOf('page', 'rate')('rate', 'Streamed, a page is sent 0.61 times as often (34 and 56 per second)', {
      'node streamed': 34,
      'node whole': 56,
    }),
    claimsOf('parts', 'rate')(
      'gathered',
      'Streamed and sent at once, a page is sent 0.30 times as often (15 and 50 per second)',
      { 'bare gathered': 15, 'bare whole': 50 },
    ),
    claimsOf('parts', 'cpu')('cpu', 'renderToPipeableStream takes about twice the time of renderToString', {
      'bare gathered': 2,
      'bare whole': 1,
    }),
  ],
  steps: [
    ...FRAMEWORKS.map((name) => step(`streamed: ${name}`, 'page', `${name} whole`, `${name} streamed`)),
    ...BEHIND.map((name) =>
      step(`streamed: ${name}, NGINX`, 'page', `${name} nginx whole`, `${name} nginx streamed`),
    ),
    step('React: chunks instead of a string', 'parts', 'bare whole', 'bare gathered'),
    step('HTTP: each chunk as it comes', 'parts', 'bare gathered', 'bare streamed'),
    step('a web stream instead of a Node one', 'parts', 'bare streamed', 'bare web'),
  ],
}
