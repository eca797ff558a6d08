import { pageOf, WORKLOADS } from '../../src/experiment/workloads.ts'
import type { Claim, LoadRace, Program, Study, System, Workload } from '../../src/result/experiment.ts'
import { claimsOf } from '../claims.ts'
import { toolRace } from '../tool.ts'

/** One App's three stages: Express alone, its routes in a Fastify server, and Fastify alone. */
const STAGES = {
  express: 'Express',
  'fastify-express': 'Fastify with Express routes',
  fastify: 'Fastify',
} as const

type Stage = keyof typeof STAGES

type Role = 'status' | 'ssr' | 'partial'

/** The grid has the first and the last stage, but no fragments. */
const programOf = (stage: string, role: Role): Program =>
  stage === 'fastify-express' || role === 'partial'
    ? { package: 'bench/studies/express-to-fastify/subjects/stages', role, env: { STAGE: stage } }
    : { package: `apps/${stage}`, role }

/** After 1.5 s a fragment and a status line cost 17 % more than later; profiles of 250 ms slices come within 5 % of the end in the thirteenth. */
const MOUNTED_WARMUP_MS = 3500

/** A fragment is rendered as a page is, and becomes warm as late. */
const PARTIAL_WARMUP_MS = 1500

const SYSTEMS: Record<string, System> = Object.fromEntries(
  (['status', 'ssr', 'partial'] as const).flatMap((role) =>
    Object.entries(STAGES).map(([stage, title]) => [
      `${stage}/${role}`,
      {
        title,
        app: programOf(stage, role),
        ...(role === 'partial' && { warmupMs: PARTIAL_WARMUP_MS }),
        ...(stage === 'fastify-express' && { warmupMs: MOUNTED_WARMUP_MS }),
      },
    ]),
  ),
)

/** 9,828 bytes with its headers: what One App's page had on Express. */
const PAGE = pageOf(44)

/** 1,614 bytes with its headers; One App's had 1,260. */
const PARTIAL: Workload = {
  path: '/partial/en-US/honeyed-assam-black',
  expect: { includes: ['<article lang="en-US"', '</article>'] },
}

/** What is asked of a role, by the name of its race. */
const RACES: Readonly<Record<string, readonly [Role, Workload]>> = {
  status: ['status', WORKLOADS.status],
  partial: ['partial', PARTIAL],
  full: ['ssr', PAGE],
}

const systemsOf = (role: Role) => Object.keys(STAGES).map((stage) => `${stage}/${role}`)

/** As published: 10 connections. */
const race = ([role, workload]: readonly [Role, Workload]): LoadRace => ({
  systems: systemsOf(role),
  workload,
  connections: 10,
  // Half of what Express did in the first heat was more than all that it could do in a slower heat. The source has 3,393 for it.
  ...(role === 'status' && { openLoop: systemsOf(role), openRate: 3000 }),
})

/** Requests per second that the source printed, as means of 10 s. */
const PUBLISHED = {
  status: { express: 3393.4, 'fastify-express': 3599.55, fastify: 7915.6 },
  partial: { express: 534.1, 'fastify-express': 524.9, fastify: 653.3 },
  full: { express: 482.3, 'fastify-express': 491, fastify: 591.3 },
} as const satisfies Record<string, Record<Stage, number>>

/** A stage of the migration against Express, where it began. */
function rateClaim(stage: Exclude<Stage, 'express'>, race: keyof typeof PUBLISHED, says: string): Claim {
  const role = race === 'full' ? 'ssr' : race
  const printed = {
    [`${stage}/${role}`]: PUBLISHED[race][stage],
    [`express/${role}`]: PUBLISHED[race].express,
  }
  return claimsOf(race, 'rate')(`${stage}-${race}`, says, printed)
}

const byAutocannon = (race: string) => `${race} by autocannon`
const AUTOCANNON = { name: 'autocannon', connections: 10, seconds: 10 } as const

/** See docs/studies/express-to-fastify.md. */
export const expressToFastify: Study = {
  name: 'express-to-fastify',
  title: 'One App moves from Express to Fastify',
  question:
    'What does a real application gain when it moves from Express to Fastify, and what on the way there?',
  source: {
    title: 'One App: ExpressJS to Fastify migration (pull request 878)',
    url: 'https://github.com/americanexpress/one-app/pull/878',
    versions: { express: '4', fastify: '4' },
    machine: 'a machine that it does not name, in December 2022, Express 4 and Fastify 4',
    tool: 'autocannon -c 10 -d 10',
  },
  systems: SYSTEMS,
  races: Object.fromEntries(
    Object.entries(RACES).flatMap(([name, [role, workload]]) => [
      [name, race([role, workload])],
      [byAutocannon(name), toolRace(systemsOf(role), { ...AUTOCANNON, path: workload.path })],
    ]),
  ),
  claims: [
    rateClaim('fastify', 'status', 'Fastify sends 2.33 times as many status lines as Express'),
    rateClaim('fastify', 'partial', 'An HTML fragment is rendered 1.22 times as often on Fastify'),
    rateClaim('fastify', 'full', 'A whole page is rendered 1.23 times as often on Fastify'),
    claimsOf(byAutocannon('status'), 'mean-latency')(
      'fastify-status-latency',
      "The status line's mean latency falls from 2.53 to 0.60 ms",
      { 'fastify/status': 0.6, 'express/status': 2.53 },
      {
        because:
          'In a closed loop of ten connections the mean is 10 / rate (Little): 2.95 and 1.26 ms by the rates of the source, whose tool counts whole milliseconds. The open loop of the other race has one rate for both.',
      },
    ),
    rateClaim('fastify-express', 'status', 'Express routes in a Fastify server: 1.06 times the status lines'),
    rateClaim('fastify-express', 'partial', 'Express routes in a Fastify server: 0.98 times the fragments'),
    rateClaim('fastify-express', 'full', 'Express routes in a Fastify server: 1.02 times the pages'),
  ],
}
