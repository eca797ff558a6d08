import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import { averageCost, Core, createDraw, type Speed } from '../../simulation/machine.ts'
import { NOISY, QUIET, SCENARIOS } from '../../simulation/scenarios.ts'
import { World } from '../../simulation/world.ts'

const FOLDER = new URL('../../simulation/', import.meta.url)

function sample(speed: Speed, seconds: number, step: number): number[] {
  const core = new Core(speed, createDraw(createRandom(1)))
  return Array.from({ length: Math.round(seconds / step) }, (_, index) =>
    core.cost(index * step, (index + 1) * step),
  )
}

test('only the adapters know the benchmark', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'))
  const knowing = files.filter((name) =>
    /from '\.\.\/src\//.test(readFileSync(new URL(name, FOLDER), 'utf8')),
  )
  assert.deepEqual(knowing, ['method.ts', 'race.ts'])
})

test('a core of two states is slow for three quarters of the time, and its cost has two levels', () => {
  const costs = sample({ ...NOISY.speed, sd: 0 } as Speed, 1000, 0.1)
  const average = averageCost(NOISY.speed)
  assert.ok(Math.abs(average - 0.75 * Math.log(1.57)) < 1e-12, `${average}`)
  assert.ok(Math.abs(mean(costs) - average) < 0.03, `${mean(costs)}`)
  const between = costs.filter((cost) => cost > 0.01 && cost < Math.log(1.57) - 0.01)
  assert.ok(between.length < 0.2 * costs.length, 'few stretches have a change in them')
})

test('a core that changes slowly has the spread and the memory that it should', () => {
  const costs = sample({ kind: 'gaussian', sd: 0.03, seconds: 10 }, 5000, 1)
  assert.ok(Math.abs(Math.sqrt(sampleVariance(costs)) - 0.03) < 0.003, `${Math.sqrt(sampleVariance(costs))}`)
  const products = costs.slice(10).map((cost, index) => cost * (costs[index] ?? 0))
  // After 10 s, which is its correlation time, 1 / e is left.
  assert.ok(Math.abs(mean(products) / sampleVariance(costs) - Math.exp(-1)) < 0.1)
})

test('a trace is replayed as it is, again and again', () => {
  const costs = sample({ kind: 'trace', spacing: 0.1, logCost: [0, 1, 2] }, 3, 0.1)
  assert.ok(Math.abs(mean(costs) - 1) < 0.02, `${mean(costs)}`)
  for (const name of ['noisy', 'quiet']) {
    const speed = SCENARIOS[`${name}-trace`]?.speed
    assert.ok(speed?.kind === 'trace' && speed.logCost.length * speed.spacing > 55, 'a minute is stored')
  }
})

/** Nothing but what a test adds. */
const STILL = {
  ...QUIET,
  speed: { kind: 'gaussian', sd: 0, seconds: 1 } as const,
  shocks: { part: 0, cost: 0 },
  visible: { part: 0, share: 0, cost: 0 },
}

test('slices of one launch vary as the scenario says, longer ones less', () => {
  const still = { ...STILL, slice: { ...QUIET.slice, hello: 0.07 }, floor: 0.02 }
  const heat = new World(still, 1).startHeat('hello')
  for (const [seconds, sd] of [
    [0.05, Math.hypot(0.07, 0.02)],
    [0.2, Math.hypot(0.035, 0.02)],
  ] as const) {
    const logs = Array.from({ length: 2000 }, () => {
      const { cpuSeconds, requests } = heat.slice('node/hello direct', seconds)
      return Math.log(cpuSeconds / requests)
    })
    const ratio = Math.sqrt(sampleVariance(logs)) / sd
    assert.ok(Math.abs(ratio - 1) < 0.06, `${ratio}`)
  }
})

test('a cold cell costs 40 % more at first, and its own load warms it', () => {
  const still = { ...STILL, slice: { hello: 0, ssr: 0, status: 0, pair: 0 }, floor: 0 }
  const cold = { cells: 18, cost: 0.4, seconds: 0.25 }
  const heat = new World({ ...still, cold }, 1).startHeat('hello')
  const cost = (seconds: number) => {
    const { cpuSeconds, requests } = heat.slice('node/hello direct', seconds)
    return cpuSeconds / requests
  }
  const first = cost(0.001)
  heat.slice('fastify/hello direct', 5)
  const second = cost(0.25)
  cost(5)
  const last = cost(0.001)
  assert.ok(Math.abs(first / last - 1.4) < 0.01, `${first / last}`)
  assert.ok(
    second > 1.2 * last && second < 1.3 * last,
    `the load of others does not warm it: ${second / last}`,
  )
})

test('the same seed gives the same world, whose truths add up', () => {
  const [one, other] = [
    new World(SCENARIOS['noisy-loadings'] ?? NOISY, 3),
    new World(SCENARIOS['noisy-loadings'] ?? NOISY, 3),
  ]
  const [a, b] = ['bun/hello direct', 'node/hello direct']
  assert.equal(one.truth(a, b, 'now'), other.truth(a, b, 'now'))
  assert.notEqual(one.truth(a, b, 'now'), one.truth(a, b, 'free'))
  assert.equal(one.truth('node/hello#2 direct', b, 'now'), 0)
  assert.ok(Math.abs(one.truth(a, b, 'free') - Math.log(9.5 / 10.8)) < 1e-12)
  assert.ok(Number.isNaN(one.truth(a, 'nobody', 'free')))
})
