import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newHeat } from '../../src/measure/heat.ts'
import { documentOf } from '../../src/report/report.ts'
import { describeFailures, describeSkipped, findingOf, summarise } from '../../src/report/summary.ts'
import type { Result } from '../../src/result/result.ts'
import { createSlice } from '../fixtures/evidence.ts'
import { cellOf, smallRace, within, withRaces } from '../fixtures/small-race.ts'

const HEAT = newHeat({ race: 'hello', heat: 1 })

/** The rows of the table of A/A controls. */
function controlsOf(result: Result): (readonly string[])[] {
  const section = documentOf(result).sections.find(({ title }) => title.startsWith('A/A control'))
  return section?.table?.rows.map(({ cells }) => cells) ?? []
}

function assertSays(result: Result, sentence: RegExp): void {
  const { finding, summary, sections } = documentOf(result)
  const told = sections.flatMap(({ title, notes }) => [title, ...notes])
  assert.match([`${finding}.`, ...summary, ...told].join('\n'), sentence)
}

test('a race is summarised: who leads, proxy, control, voids, reach', () => {
  assertSays(smallRace(), /^hello nginx: bun leads; GET \/json, 64 connections$/m)
  assert.deepEqual(summarise(smallRace()), [
    'Behind nginx, hello keeps 42 % of the direct req/s: NGINX takes 16.7 µs of the same core per request.',
    'The same app under two names differed by at most 0.4 %, no more than chance explains.',
    '1 cell is void and has no number that counts.',
    '2 of 3 pairs of apps were told apart. Ratios of req/s are certain to about ±4.1 %.',
    'With all pairs tested, a difference of 7.9 % (hello nginx) would be found in 4 of 5 runs.',
  ])
})

test('more heats are said to buy less uncertainty, at the price of what they took', () => {
  const heats = [1, 2, 3].map((heat) => ({ ...HEAT, heat, seconds: 50 }))
  assertSays(
    smallRace({ heats }),
    /certain to about ±4\.1 %\. `--max-time 5m` would make that about ±2\.\d %\./,
  )
})

test('an app with an odd launch does not lead: it could not be placed, and why', () => {
  const heatOf = (heat: number, koa: number) => ({
    ...HEAT,
    heat,
    slices: [koa, 1000, 1000, 1000].map((requests, index) => ({
      ...createSlice(),
      ...{ requests, seconds: 1, cell: `${['koa', 'bun', 'node', 'fastify'][index]}/hello nginx` },
    })),
  })
  const wide = { value: 0.52, low: 0.26, high: 1.05 }
  const pairOf = (other: string) => ({ a: 'koa/hello nginx', b: other, ratio: wide, p: 0.06, pAdjusted: 0.3 })
  const result = withRaces(
    smallRace({ heats: [heatOf(1, 900), heatOf(2, 540), heatOf(3, 900)] }),
    (race) => ({
      ranks: [...race.ranks, { cell: 'koa/hello nginx', from: 1, to: 4 }],
      pairs: [...race.pairs, ...race.ranks.map(({ cell }) => pairOf(cell))],
    }),
  )
  assertSays(
    result,
    /^hello nginx: bun leads; .*\n(?:.*\n)*koa could not be placed: one of 3 launches ran at 0\.60 of the others\.$/m,
  )
})

test('an app that ties with the first, behind one that does not, does not lead either', () => {
  const ratio = { value: 0.83, low: 0.71, high: 0.97 }
  const result = withRaces(smallRace(), (race) => ({
    ranks: [...race.ranks, { cell: 'koa/hello nginx', from: 1, to: 4 }],
    pairs: [
      ...race.pairs,
      ...race.ranks.map(({ cell }) => ({ a: 'koa/hello nginx', b: cell, ratio, p: 0.02, pAdjusted: 0.2 })),
    ],
    smallestEffect: race.smallestEffect && { ...race.smallestEffect, adjusted: 1.2 },
  }))
  assertSays(
    result,
    /^hello nginx: bun leads; .*\n(?:.*\n)*koa could not be placed: its launches differ too much\.$/m,
  )
})

test('the headline: who leads a role, which apps are as good as equal, or that nothing was shown', () => {
  assert.equal(findingOf(smallRace()), 'Bun leads hello')
  const alike = withRaces(smallRace(), ({ pairs }) => ({
    pairs: pairs.map((pair) => ({ ...pair, ratio: within(1.1) })),
  }))
  assert.equal(findingOf(alike), 'All 3 are within a factor of 1.15 in hello')
  const open = withRaces(smallRace(), ({ ranks }) => ({
    ranks: ranks.map((rank) => ({ ...rank, from: 1, to: 3 })),
  }))
  assert.equal(findingOf(open), 'No difference was shown in hello')
})

test('who ties for the first place leads together', () => {
  const tied = withRaces(smallRace(), ({ ranks }) => ({
    ranks: ranks.map((rank, index) => (index < 2 ? { ...rank, from: 1, to: 2 } : { ...rank, from: 3 })),
  }))
  assertSays(tied, /^Bun and node lead hello\.$/m)
})

test('one launch ranks nothing, and its control says nothing', () => {
  const unknown = { p: null, pAdjusted: null }
  const once = withRaces(smallRace(), ({ pairs, control, ratios }) => ({
    ratios: ratios.map(({ cell, ratio: { value } }) => ({ cell, ratio: { value, low: null, high: null } })),
    pairs: pairs.map((pair) => ({ ...pair, ...unknown })),
    control: control && { ...control, p: null, ratio: { value: 1.058, low: null, high: null } },
    smallestEffect: null,
  }))
  assertSays(once, /A\/A control says nothing/)
  assert.doesNotMatch(summarise(once).join(), /certain/)
  assert.equal(findingOf(once), 'One launch of each app ranks nothing in hello')
})

test('a suspect control is said in the summary and in its race', () => {
  const suspect = withRaces(smallRace(), ({ metric, control }) => ({
    control: control && { ...control, ratio: within(0.86), p: 0.0004, suspect: metric === 'rate' },
  }))
  assertSays(suspect, /The same app under two names differed in hello nginx by req\/s: rely on no small/)
  assert.doesNotMatch(summarise(suspect).join(), /no more than chance/)
  assert.deepEqual(controlsOf(suspect)[0]?.slice(2, 7), [
    'node#2',
    '0.860',
    '0.826–0.894',
    '< 0.001',
    'suspect: a difference where none exists',
  ])
})

test('a control within chance is not called equal', () => {
  const told = (p: number) =>
    controlsOf(withRaces(smallRace(), ({ control }) => ({ control: control && { ...control, p } })))[0]?.[6]
  assert.equal(told(0.8), 'no difference, as it should be')
  assert.equal(told(0.03), 'barely excludes 1, as about 1 in 20 does')
})

test('a race without a control says so', () => {
  const without = withRaces(smallRace(), () => ({ control: null }))
  assertSays(without, /no A\/A control/)
  assert.deepEqual(controlsOf(without), [])
})

test('a run that was too short for its machine says in one sentence what to do, and no percentage beyond reason', () => {
  const heats = [1, 2].map((heat) => ({ ...HEAT, heat, seconds: 20 }))
  const wide = (value: number) => ({ value, low: value / 4, high: value * 4 })
  const noisy = withRaces(smallRace({ heats }), ({ pairs, ratios }) => ({
    pairs: pairs.map((pair) => ({ ...pair, pAdjusted: 1 })),
    ratios: ratios.map((one) => ({ ...one, ratio: wide(one.ratio.value) })),
    smallestEffect: { single: 12.45, adjusted: 400 },
  }))
  assertSays(
    noisy,
    /^This run cannot tell any two apps apart: the machine was too noisy for so short a run\. `--max-time \d+m` would make ratios of req\/s certain to about ±\d+ %\.$/m,
  )
  assert.doesNotMatch(summarise(noisy).join(), /None of|as many heats/i)
  const decided = withRaces(noisy, ({ pairs }) => ({
    pairs: pairs.map((pair) => ({ ...pair, pAdjusted: 0.01 })),
  }))
  assertSays(decided, /a difference of a factor of 400\.00 \(hello nginx\) would be found/)
})

test('what was not tried, and what broke, is said with its reason', () => {
  const skipped = cellOf('njs', { skipped: 'there is no njs' })
  assert.deepEqual(describeSkipped(smallRace({ cells: [skipped, cellOf('bun')] })), [
    'Not tried: njs/hello nginx (there is no njs).',
  ])
  const failure = { cell: 'koa/hello nginx', reason: 'it exited with code 1' }
  const heats = [1, 3].map((heat) => ({ ...HEAT, heat, failures: [failure] }))
  assert.deepEqual(describeFailures(smallRace({ heats })), [
    'Failed in heat 1 and heat 3: koa/hello nginx: it exited with code 1.',
  ])
})
