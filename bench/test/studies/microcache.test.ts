import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { findNginx } from '@startgrid/nginx/find.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import { measureStampede, missesOf, type Point, pathOf } from '../../studies/microcache/probes.ts'
import { microcache } from '../../studies/microcache/study.ts'

const nginx = await findNginx()
const skip = nginx.kind === 'none' && nginx.describe()

/** What happens to one URL, arrival by arrival, under NGINX's rule: valid through the second `stored + seconds`. */
function simulate({ rate, seconds, urls }: Point, arrivals: number): number {
  const random = createRandom(1)
  let [now, validThrough, misses] = [0, -1, 0]
  for (let arrival = 0; arrival < arrivals; arrival++) {
    now += -Math.log(1 - random()) / (rate / urls)
    if (Math.floor(now) <= validThrough) continue
    misses++
    validThrough = Math.floor(now) + seconds
  }
  return misses / arrivals
}

test('the part of misses is that of a simulated URL', () => {
  for (const rate of [0.05, 0.2, 2, 50])
    for (const seconds of [1, 4]) {
      const point = { rate, seconds, urls: 1 }
      const [computed, simulated] = [missesOf(point), simulate(point, 200_000)]
      ok(
        Math.abs(computed / simulated - 1) < 0.03,
        `${rate} per second, ${seconds} s: ${computed}, ${simulated}`,
      )
    }
})

test('a hit is what the app made before, a miss is made for its URL, and nothing in it is one client’s own', {
  skip,
}, async (t) => {
  if (nginx.kind === 'none') return
  for (const name of ['hit', 'alone'] as const) {
    const system = microcache.systems[name]
    if (system === undefined) throw new Error(`There is no system ${name}.`)
    const { target, stop } = await startSystem(system, { nginx })
    t.after(stop)
    ok('port' in target)
    const ask = (path: string) => fetch(`http://${target.host}:${target.port}${path}`)
    const path = pathOf({ seconds: 3600, urls: 1 })
    const bodies = [await ask(path), await ask(path), await ask(`${path}0`)].map((response) =>
      response.text(),
    )
    equal(new Set(await Promise.all(bodies)).size, 1)
    deepEqual(await (await ask('/count')).text(), name === 'hit' ? '2' : '3')
  }
})

test('of 100 clients at once, the lock lets one ask for what was never stored', { skip }, async (t) => {
  const system = microcache.systems['new-updating']
  if (system === undefined) throw new Error('There is no such system.')
  const { origin } = await measureStampede(system, false, {
    signal: t.signal,
    quick: true,
    ...{ heat: 1, onForeign() {}, onDetected() {} },
  })
  equal(origin, 0.01)
})
