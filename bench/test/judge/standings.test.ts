import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standingsOf, tiesOf } from '../../src/judge/standings.ts'
import type { Pair, RaceFigures } from '../../src/result/figures.ts'
import { cellOf } from '../fixtures/laboratory.ts'
import { smallRace, withFigures, within } from '../fixtures/results.ts'

test('a race is in the order of its ranks, voided cells last, twins and untried cells left out', () => {
  const result = smallRace()
  const untried = { ...cellOf('njs/hello', 'nginx'), skipped: 'there is no njs' }
  const [standing, ...others] = standingsOf({ ...result, cells: [untried, ...result.cells] })
  assert.deepEqual(others, [])
  assert.deepEqual(
    standing?.entries.map(({ spec, places }) => [spec.title, places.rate?.from, places.rate?.to]),
    [
      ['bun', 1, 1],
      ['node', 2, 3],
      ['fastify', 2, 3],
      ['koa', undefined, undefined],
    ],
  )
})

test('what was not measured yet has no standing', () => {
  assert.deepEqual(standingsOf(smallRace({ analysis: null })), [])
  assert.deepEqual(standingsOf(withFigures(smallRace(), () => ({ slices: 0, void: null }))), [])
})

/** Ranks a, b, c, d with these pairs shown to differ. */
function raceOf(...shown: string[]): RaceFigures {
  const cells = ['a', 'b', 'c', 'd']
  const pairs = cells.flatMap((a, index) =>
    cells.slice(index + 1).map((b): Pair => {
      const differs = shown.includes(a + b)
      // Pairs may be stored either way round.
      const [one, other] = index % 2 === 0 ? [a, b] : [b, a]
      return { a: one, b: other, ratio: within(1), p: 0.04, pAdjusted: differs ? 0.049 : 0.051 }
    }),
  )
  const [race] = smallRace().analysis?.races ?? []
  if (race === undefined) throw new Error('There is no race.')
  return { ...race, pairs, ranks: cells.map((cell) => ({ cell, from: 1, to: 4 })) }
}

test('ties are the largest sets without a shown difference', () => {
  assert.deepEqual(tiesOf(raceOf()), [['a', 'b', 'c', 'd']])
  assert.deepEqual(tiesOf(raceOf('ab', 'ac', 'ad', 'bc', 'bd', 'cd')), [])
  assert.deepEqual(tiesOf(raceOf('ac', 'ad', 'bc', 'bd')), [
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test('ties may overlap: neighbours that cannot be told apart do not make the ends equal', () => {
  assert.deepEqual(tiesOf(raceOf('ac', 'ad', 'bd')), [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'd'],
  ])
})
