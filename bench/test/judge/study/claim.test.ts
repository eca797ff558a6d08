import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isProbe, publishedRatio } from '../../../src/model/experiment.ts'
import { PUBLISHED as SOURCES, STUDIES } from '../../../studies/index.ts'

/** The ratios of the issue, rounded as it has them. */
const PUBLISHED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'nginx-proxy': {
    'nginx-over-fastify': '4.0',
    'nginx-over-bun': '1.9',
    'nginx-over-bun-by-one': '0.74',
    'generator-was-the-limit': '2.6',
    'bun-over-fastify': '2.1',
    'naive-over-direct': '0.43',
    'parsing-twice': '2.3',
  },
  cluster: {
    'mean-rate': '3.4',
    'median-rate': '2.4',
    'median-latency': '0.175',
    'p97.5-latency': '1.03',
    'p99-latency': '1.001',
  },
  'worker-pool': {
    'node-4-over-node-2': '1.85',
    'node-8-over-node-2': '3.19',
    'node-10-over-node-8': '1.0',
    'node-24-over-node-10': '0.92',
    'bun-2-over-node-2': '1.7',
    'bun-4-over-node-4': '1.7',
    'bun-8-over-node-8': '2.2',
    'bun-10-over-node-10': '2.4',
    'fastify-pool-over-fastify': '0.41',
    'bun-pool-over-bun': '0.46',
    'bun-pool-over-fastify': '0.96',
  },
  'njs-vs-node': {
    'hello-njs-over-koa': '1.38',
    'hello-njs-over-jitless': '7.9',
    'hello-njs-8-over-njs': '1.0',
    'ssr-koa-over-njs': '14.2',
    'ssr-koa-over-njs-8': '2.4',
    'ssr-jitless-over-njs': '3.7',
    'ssr-njs-8-over-jitless': '1.58',
    'ssr-njs-8-over-njs': '5.9',
  },
  'express-to-fastify': {
    'fastify-status': '2.33',
    'fastify-partial': '1.22',
    'fastify-full': '1.23',
    'fastify-status-latency': '0.237',
    'fastify-express-status': '1.06',
    'fastify-express-partial': '0.98',
    'fastify-express-full': '1.02',
  },
  'reverse-proxy': { tls: '1.16', gzip: '1.50', plain: '0.82', cluster: '0.99' },
  streaming: { rate: '0.61', gathered: '0.30', cpu: '2' },
  'express-on-bun': {
    ...{ bare: '3.10', 'bare-by-wrk': '3.10' },
    ...{ app: '0.73', 'app-by-wrk': '0.73', 'app-cpu': '1.94' },
  },
  'fastify-readme': { express: '5.4', http: '1.04', koa: '1.42', hono: '3.1' },
  upgrades: { 'express-node-24': '3.30', 'fastify-benchmarks': '3.00' },
}

test('all studies of sources', () =>
  deepEqual(
    SOURCES.map(({ name }) => name),
    Object.keys(PUBLISHED),
  ))

for (const study of STUDIES) {
  describe(study.name, () => {
    const expected = PUBLISHED[study.name]
    if (expected !== undefined)
      test('its claims have the published ratios', () => {
        const digits = (id: string) => (expected[id]?.split('.')[1] ?? '').length
        const found = study.claims.map((claim) => [claim.id, publishedRatio(claim).toFixed(digits(claim.id))])
        deepEqual(Object.fromEntries(found), expected)
        equal(found.length, Object.keys(expected).length, 'no id twice')
      })

    test('every name that it uses is there', () => {
      const inRace = (race: string, systems: Iterable<string>) => {
        for (const system of systems)
          ok(study.races[race]?.systems.includes(system), `${system} in race ${race}`)
      }
      for (const { race, against = race, over, under } of study.claims) {
        inRace(race, [over])
        inRace(against, [under])
      }
      for (const { race, from, to } of study.steps ?? []) inRace(race, [from, to])
      for (const { systems } of Object.values(study.races))
        for (const system of systems) ok(study.systems[system], `system ${system}`)
    })

    test('every system takes part, and its title fits a table', () => {
      const used = new Set(Object.values(study.races).flatMap(({ systems }) => systems))
      deepEqual([...used].toSorted(), Object.keys(study.systems).toSorted())
      for (const { title } of Object.values(study.systems)) ok(title.length <= 30, title)
    })

    test('one workload per race compares alike: systems under load have a target of their own', () => {
      for (const race of Object.values(study.races)) {
        if (isProbe(race)) continue
        for (const system of race.systems) {
          const { app, command, nginx } = study.systems[system] ?? {}
          ok(app ?? command ?? nginx, system)
        }
      }
    })

    test('a reason with figures is whole sentences', () => {
      const measured = {
        value: (_race: string, system: string) => (system.length % 7) * 1e-5 + 1e-5,
        cpu: () => ({ app: 3e-5, proxy: 2e-5 }),
        upstreamConnections: () => 1,
        coreUse: () => 0.9,
        openRate: () => 1000,
      }
      for (const { because, id } of study.claims) {
        const text = because?.(measured) ?? 'None.'
        ok(/^[A-Z].*\.$/.test(text) && !/undefined|NaN|null|Infinity|\?/.test(text), `${id}: ${text}`)
      }
    })

    test('a reason without figures is left out, instead of a sentence with holes', () => {
      const nothing = () => undefined
      const measured = {
        value: nothing,
        cpu: () => ({ app: undefined, proxy: undefined }),
        upstreamConnections: nothing,
        coreUse: nothing,
        openRate: nothing,
      }
      for (const { because } of study.claims) {
        const text = because?.(measured) ?? ''
        ok(!/undefined|NaN|null/.test(text), text)
      }
    })
  })
}
