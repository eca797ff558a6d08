import { formatRatio } from '@startgrid/cli/numbers.ts'
import type { Claim, Measured, Step, Study } from '../../src/result/experiment.ts'
import { lackOfSetting, measureSetting, type Setting } from './probe.ts'

/** The table in Fastify's README, in its versions. Then its conditions are changed one after the other, for Fastify and for Express. */

/** `autocannon -c 100 -p 10` */
const PUBLISHED = { connections: 100, pipelining: 10 } as const
const THEN = { packages: 'then', node: 'then', ...PUBLISHED } as const

/** Bombardier's default; it sends one request at a time on a connection. */
const BOMBARDIER = { connections: 125 } as const

type Both = 'express' | 'fastify'
const BOTH = { fastify: 'Fastify', express: 'Express' } as const

/** Each stage changes one thing of the stage before it. */
const STAGES: Readonly<
  Record<string, { title: string; what: string; setting: Omit<Setting, 'program' | 'packages'>; now?: true }>
> = {
  published: { title: 'as published', what: '', setting: { node: 'then', ...PUBLISHED } },
  production: {
    title: '+ production',
    what: 'NODE_ENV=production',
    setting: { node: 'then', ...PUBLISHED, production: true },
  },
  plain: {
    title: '+ no pipelining',
    what: 'one request at a time',
    setting: { node: 'then', connections: 100, production: true },
  },
  node: {
    title: '+ Node 26',
    what: 'Node 26 instead of 16',
    setting: { connections: 100, production: true },
  },
  today: {
    title: '+ version of today',
    what: 'its version of today',
    setting: { connections: 100, production: true },
    now: true,
  },
}
const NAMES = Object.keys(STAGES)

const SYSTEMS: Readonly<Record<string, { title: string; setting: Setting }>> = {
  http: { title: 'http.Server, as published', setting: { program: 'http', ...THEN } },
  koa: { title: 'Koa, as published', setting: { program: 'koa', ...THEN } },
  'no-schema': { title: 'Fastify without schema', setting: { program: 'fastify-without-schema', ...THEN } },
  ...Object.fromEntries(
    (Object.keys(BOTH) as Both[]).flatMap((program) =>
      Object.entries(STAGES).map(([name, { title, setting, now }]) => [
        `${program} ${name}`,
        {
          title: `${BOTH[program]}, ${title}`,
          setting: { program, packages: now ? (`apps/${program}` as const) : ('then' as const), ...setting },
        },
      ]),
    ),
  ),
  'express-text': {
    title: 'Express 5, text',
    setting: { program: 'express-text', packages: 'apps/express', ...BOMBARDIER },
  },
  'express-text-production': {
    title: 'Express 5, text, production',
    setting: { program: 'express-text', packages: 'apps/express', ...BOMBARDIER, production: true },
  },
  'hono-text': {
    title: 'Hono, text',
    setting: { program: 'hono-text', packages: 'apps/hono', ...BOMBARDIER },
  },
}

const RACE = 'hello'

/** CPU per response instead of the rate: autocannon is one process, and a fast server may wait for it. */
const claim = (
  id: string,
  says: string,
  [faster, slower]: readonly [string, string],
  [fast, slow]: readonly [number, number],
  because?: Claim['because'],
): Claim => ({
  ...{ id, says, race: RACE, metric: 'cpu', over: slower, under: faster, published: [1 / slow, 1 / fast] },
  ...(because && { because }),
})

const FASTIFY = 'fastify published'

/** See docs/studies/fastify-readme.md. */
export const fastifyReadme: Study = {
  name: 'fastify-readme',
  title: "the table in Fastify's README",
  question: 'Is Fastify 5.4 times as fast as Express, and what does that ratio consist of?',
  source: {
    title: "Fastify's README, in the package of 5.12.8",
    url: 'https://github.com/fastify/fastify#benchmarks',
    versions: { fastify: '4.0.0', express: '4.17.3', koa: '2.13.0' },
    machine: 'EX41S-SSD, Intel Core i7, 4 GHz, 4 cores, Node 16.14.2',
    tool: 'autocannon -c 100 -d 40 -p 10, the second of two runs',
  },
  systems: Object.fromEntries(
    Object.entries(SYSTEMS).map(([name, { title, setting }]) => [
      name,
      { title, lacks: (download: boolean) => lackOfSetting(setting, download) },
    ]),
  ),
  races: {
    [RACE]: {
      systems: Object.keys(SYSTEMS),
      expectedMs: 5500,
      probe: (name, context) => {
        const system = SYSTEMS[name]
        if (system === undefined) throw new Error(`There is no system ${name}.`)
        return measureSetting(system.setting, context)
      },
    },
  },
  claims: [
    claim(
      'express',
      'Fastify is 5.4 times as fast as Express (77,193 and 14,200 per second)',
      [FASTIFY, 'express published'],
      [77_193, 14_200],
      explainStages,
    ),
    claim(
      'http',
      'Fastify is 1.04 times as fast as http.Server (77,193 and 74,513)',
      [FASTIFY, 'http'],
      [77_193, 74_513],
    ),
    claim(
      'koa',
      'Fastify is 1.42 times as fast as Koa (77,193 and 54,272)',
      [FASTIFY, 'koa'],
      [77_193, 54_272],
    ),
    claim(
      'hono',
      "Hono's README: 3.1 times as fast as Express 5 (74,429 and 24,380)",
      ['hono-text', 'express-text'],
      [74_428.96, 24_380.41],
      explainHono,
    ),
  ],
  steps: [
    ...(Object.keys(BOTH) as Both[]).flatMap((program) =>
      NAMES.slice(1).map(
        (name, index): Step => ({
          what: `${BOTH[program]}: ${STAGES[name]?.what}`,
          race: RACE,
          from: `${program} ${NAMES[index]}`,
          to: `${program} ${name}`,
        }),
      ),
    ),
    { what: 'Fastify: no schema', race: RACE, from: FASTIFY, to: 'no-schema' },
  ],
}

/** The ratio after each change. */
function explainStages({ value }: Measured): string | null {
  const ratios = NAMES.flatMap((name) => {
    const [express, fastify] = (['express', 'fastify'] as const).map((one) =>
      value(RACE, `${one} ${name}`, 'cpu'),
    )
    return express && fastify ? `${STAGES[name]?.title} ${formatRatio(express / fastify)}` : []
  })
  return ratios.length < NAMES.length
    ? null
    : `Express over Fastify in CPU per response: ${ratios.join(', ')}.`
}

function explainHono({ value }: Measured): string | null {
  const [plain, production] = ['express-text', 'express-text-production'].map((name) =>
    value(RACE, name, 'cpu'),
  )
  const hono = value(RACE, 'hono-text', 'cpu')
  if (!plain || !production || !hono) return null
  return `With NODE_ENV=production, Express costs ${formatRatio(production / hono)} times as much as Hono, and without it ${formatRatio(plain / hono)} times.`
}
