import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '@startgrid/grid/apps.ts'
import { judgeFigures, medianFigures } from '../src/faults/overload.ts'

test('too little served, a late probe, a late recovery and a refusal after a pause are found, each by itself', () => {
  const good = { goodput: 0.8, 'livez ms': 1_000, 'recovered ms': 2_000, '503 after a pause': 0 }
  const judge = (figures: Partial<typeof good>, runtime: App['runtime'] = 'bun') =>
    judgeFigures({ ...good, ...figures }, { runtime })
  deepEqual(judge({}), [])
  deepEqual(judge({ goodput: 0.79 }), ['Only 0.79 of the capacity was left for pages.'])
  deepEqual(judge({ 'livez ms': 1_001 }), ['/livez took 1001 ms.'])
  deepEqual(judge({ 'recovered ms': 2_001 }), ['The first page came 2001 ms after the overload.'])
  deepEqual(judge({ '503 after a pause': 1 }), ['After a pause of 500 ms, 1 pages were refused.'])
  deepEqual(judge({ '503 after a pause': 1 }, 'nginx'), [])
})

test('the median is taken of each figure by itself', () => {
  const attempt = (goodput: number, shed: number) =>
    ({ goodput, shed }) as Parameters<typeof medianFigures>[0][0]
  deepEqual(medianFigures([attempt(0.9, 0.5), attempt(0.1, 0.7), attempt(0.8, 0.1)]), {
    goodput: 0.8,
    shed: 0.5,
  })
})
