import { fileURLToPath } from 'node:url'
import type { Claim, LoadRace, Study, System } from '../../src/result/experiment.ts'
import { step } from '../claims.ts'
import { whyNotInstalled } from '../installed.ts'

/** What an upgrade gives: the same small program on an old and on a new version, each pair in the same passes. */

const VERSIONS = fileURLToPath(new URL('versions/', import.meta.url))

/** What the frameworks' pairs run on: the Node of this repository. */
const NEWEST = 'node26'

/** Cold programs differ by their compilers. */
const WARMUP_MS = 2000

/** What Express does to each request and response, on node:http alone. */
const PROTOTYPES = 'prototypes'

/** How tables name a version: `Express 5` of `express5`. Undefined for a program without one. */
function nameOfVersion(version: string): string | undefined {
  if (version === PROTOTYPES) return 'with prototypes'
  if (version === 'hono') return 'Hono 4' // @hono/node-server finds it by this name
  const [, first = '', rest, number] = /^(.)(\D+)([\d.]+)$/.exec(version) ?? []
  return number && `${first.toUpperCase()}${rest} ${number}`
}

/** Versions of something, the oldest first; each is compared with the one before. */
interface Upgrade {
  /** Of the race. */
  name: string
  versions: readonly string[]
  /** `express5 node22`: the program is that of the package. */
  systemOf(version: string): System
  isPage?: true
}

/** A program of `versions/`. Where there is no such runtime for this machine, it is left out. */
function program(runtime: string, words: string): System {
  const binary = `node_modules/${runtime}/bin/${runtime.startsWith('bun') ? 'bun' : 'node'}`
  const name = words.split(' ').at(-1) ?? ''
  const command = `NODE_ENV=production exec ${binary} ${words}`
  const named = [name, runtime].map(nameOfVersion).filter((part) => part !== undefined)
  return {
    title: named.join(' on '),
    command: { command, directory: VERSIONS, ready: { path: '/' } },
    warmupMs: WARMUP_MS,
    lacks: (download) => whyNotInstalled(VERSIONS, runtime, download),
  }
}

const NODES = ['node20', 'node22', 'node24', 'node26'] as const

const onNodes = (name: string, words: string): Upgrade => ({
  name,
  versions: NODES,
  systemOf: (node) => program(node, words),
})

const ofFramework = (name: string, versions: readonly [string, string]): Upgrade => ({
  name,
  versions,
  systemOf: (version) => program(NEWEST, `hello.js ${name.toLowerCase()} ${version}`),
})

const UPGRADES: readonly Upgrade[] = [
  onNodes('Node, node:http', 'hello.js http'),
  onNodes('Node, Express 5', 'hello.js express express5'),
  { ...onNodes('Node, page of React 19', 'page.js react19'), isPage: true },
  ofFramework('Express', ['express4', 'express5']),
  ofFramework('Fastify', ['fastify4', 'fastify5']),
  ofFramework('Koa', ['koa2', 'koa3']),
  ofFramework('Hono', ['hono3', 'hono']),
  {
    name: 'React',
    versions: ['react18', 'react19'],
    isPage: true,
    systemOf: (version) => program(NEWEST, `page.js ${version}`),
  },
  { name: 'Bun', versions: ['bun1.1', 'bun1.4'], systemOf: (version) => program(version, 'hello.js bun') },
]

const nameOf = ({ name }: Pick<Upgrade, 'name'>, version: string): string => `${name}: ${version}`

const prototypes = (node: string): string => nameOf({ name: PROTOTYPES }, node)
const HTTP = { name: 'Node, node:http' }
const EXPRESS = { name: 'Node, Express 5' }

const race = ({ name, versions, isPage }: Upgrade): LoadRace => ({
  systems: versions.map((version) => nameOf({ name }, version)),
  workload: { path: '/', expect: { includes: [isPage ? 'Item 50' : 'Hello World!'] } },
  connections: isPage ? 8 : 64,
})

const pairsOf = ({ versions }: Upgrade) =>
  versions.slice(1).map((newer, index) => [versions[index] ?? '', newer] as const)

/** One version instead of the one before it: `Node 24 instead of Node 22: Express 5`. */
const upgraded = (upgrade: Upgrade, [older, newer]: readonly [string, string]) => {
  const versions = `${nameOfVersion(newer)} instead of ${nameOfVersion(older)}`
  const what = [versions, ...upgrade.name.split(', ').slice(1)].join(': ')
  return step(what, upgrade.name, nameOf(upgrade, older), nameOf(upgrade, newer))
}

const express = (id: string, says: string, published: Claim['published']): Claim => ({
  id,
  says,
  published,
  race: EXPRESS.name,
  metric: 'rate',
  because: 'Express sets the prototype of each request and response: the steps have what that costs alone.',
  over: nameOf(EXPRESS, 'node24'),
  under: nameOf(EXPRESS, 'node22'),
})

/** See docs/studies/upgrades.md. */
export const upgrades: Study = {
  name: 'upgrades',
  title: 'what an upgrade of Node, a framework, React or Bun gives',
  question: 'Is the same program faster on the next major version, and why?',
  source: {
    title: 'dimdenGD/ultimate-express issue 364, and expressjs/perf-wg issue 21',
    url: 'https://github.com/dimdenGD/ultimate-express/issues/364',
    machine: 'not named',
    tool: 'autocannon (fastify/benchmarks), and one that is not named',
  },
  systems: {
    ...Object.fromEntries(
      UPGRADES.flatMap((upgrade) =>
        upgrade.versions.map((version) => [nameOf(upgrade, version), upgrade.systemOf(version)]),
      ),
    ),
    ...Object.fromEntries(NODES.map((node) => [prototypes(node), program(node, `hello.js ${PROTOTYPES}`)])),
  },
  races: Object.fromEntries(
    UPGRADES.map((upgrade) => {
      const own = race(upgrade)
      const more = upgrade.name === HTTP.name ? NODES.map(prototypes) : []
      return [upgrade.name, { ...own, systems: [...own.systems, ...more] }]
    }),
  ),
  claims: [
    express('express-node-24', 'Express is 3.1 to 3.5 times as fast on Node 24 as on Node 22', [3.3, 1]),
    express(
      'fastify-benchmarks',
      'The same in fastify/benchmarks: about 27,000 and 9,000 per second',
      [27, 9],
    ),
  ],
  steps: [
    ...UPGRADES.flatMap((upgrade) => pairsOf(upgrade).map((pair) => upgraded(upgrade, pair))),
    ...NODES.map((node) => {
      const what = `${nameOfVersion(node)}: Object.setPrototypeOf of request and response`
      return step(what, HTTP.name, nameOf(HTTP, node), prototypes(node))
    }),
  ],
}
