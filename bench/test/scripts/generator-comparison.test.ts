import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compareRates, type Round, rotate } from '../../scripts/generator-comparison.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/generators.ts', import.meta.url))

function roundOf(own: number, wrk: number, disturbed = false): Round {
  return new Map([
    ['startgrid', { rate: own, disturbed: false, serverUse: own / 100 }],
    ['wrk', { rate: wrk, disturbed, serverUse: null }],
  ])
}

describe('the comparison of generators', () => {
  const rounds = [roundOf(100, 50), roundOf(10, 100, true), roundOf(30, 20), roundOf(80, 100)]

  test('is the median of the ratios, not the ratio of the medians', () => {
    const found = compareRates(rounds, 'wrk', { undisturbed: false })
    assert.equal(found?.ratio, (0.8 + 1.5) / 2)
    assert.deepEqual([found.rounds, found.ownRate, found.otherRate, found.serverUse], [4, 55, 75, 0.55])
  })

  test('leaves out the rounds in which either was disturbed', () => {
    const found = compareRates(rounds, 'wrk', { undisturbed: true })
    assert.deepEqual(found, {
      other: 'wrk',
      rounds: 3,
      ownRate: 80,
      otherRate: 50,
      ratio: 1.5,
      serverUse: 0.8,
    })
  })

  test('does not know the use of the server where the system does not tell', () => {
    const turn = { rate: 1, disturbed: false, serverUse: null }
    const round: Round = new Map([
      ['startgrid', turn],
      ['wrk', turn],
    ])
    assert.equal(compareRates([round], 'wrk', { undisturbed: true })?.serverUse, null)
  })

  test('is nothing without a round that counts', () => {
    assert.equal(compareRates([roundOf(1, 2, true)], 'wrk', { undisturbed: true }), undefined)
    assert.equal(compareRates(rounds, 'autocannon', { undisturbed: false }), undefined)
  })

  test('gives every generator every place', () => {
    assert.deepEqual(
      [0, 1, 2, 3].map((round) => rotate(['a', 'b', 'c'], round).join('')),
      ['abc', 'bca', 'cab', 'abc'],
    )
  })
})

for (const [words, message] of [
  ['--against ab', "--against knows wrk and autocannon, but not 'ab'.\n"],
  ['--rounds 0', '--rounds must be a whole number from 1.\n'],
  ['--seconds 0.1', '--seconds must be from 0.5 to 60.\n'],
] as const) {
  test(`node bench/scripts/generators.ts ${words} gets a sentence`, () => {
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...words.split(' ')], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [1, message])
  })
}
