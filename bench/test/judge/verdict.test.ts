import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { decide, saysNoEffect } from '../../src/judge/claim.ts'
import type { Verdict } from '../../src/result/figures.ts'

const interval = (low: number, high: number) => ({ value: Math.sqrt(low * high), low, high })

describe('verdicts, by example', () => {
  const examples: [string, [number, number], number, Verdict][] = [
    ['within the size', [3.5, 4.5], 4, 'holds'],
    ['at both ends of the size', [3.2, 5], 4, 'holds'],
    ['smaller, but on the same side', [1.5, 1.7], 4, 'direction holds, size differs'],
    ['larger', [5.1, 9], 4, 'direction holds, size differs'],
    ['half in the size', [3, 4], 4, 'direction holds, size undecided'],
    ['around the size', [2.4, 7.3], 4, 'direction holds, size undecided'],
    ['below 1, and so it was published', [0.1, 0.2], 0.43, 'direction holds, size differs'],
    ['on the other side', [0.8, 0.95], 4, 'not reproduced here'],
    ['above 1 where less was published', [1.01, 1.2], 0.43, 'not reproduced here'],
    ['around 1', [0.9, 1.2], 4, 'undecided here'],
    ['at 1, far from the size', [0.97, 1.04], 0.74, 'not reproduced here'],
    ['at 1, partly within the size', [0.92, 1.04], 0.74, 'undecided here'],
    ['around 1, within the size of what is near 1', [0.95, 1.2], 1.06, 'holds'],
    ['no effect', [0.92, 1.08], 1.03, 'holds'],
    ['an effect', [1.2, 1.4], 1.03, 'not reproduced here'],
    ['an effect the other way', [0.6, 0.8], 1.03, 'not reproduced here'],
    ['perhaps an effect', [0.95, 1.3], 1.03, 'undecided here'],
  ]
  for (const [what, [low, high], published, verdict] of examples)
    test(what, () => equal(decide(interval(low, high), published), verdict))
})

test('without an interval nothing is decided', () => {
  equal(decide({ value: 4, low: null, high: null }, 4), 'undecided here')
})

test('whatever the figures: the rule, and its mirror image', () => {
  const random = createRandom(5)
  const draw = () => Math.exp((random() - 0.5) * 4)
  const seen = new Set<Verdict>()
  for (let run = 0; run < 20_000; run++) {
    const published = draw()
    if (saysNoEffect(published) || saysNoEffect(1 / published)) continue
    const low = draw()
    const high = low * (1 + random() * (run % 2 === 0 ? 0.1 : 1))
    const verdict = decide(interval(low, high), published)
    seen.add(verdict)
    const isWithin = low >= 0.8 * published && high <= 1.25 * published
    const sides = [low > 1, high < 1]
    equal(verdict === 'holds', isWithin)
    const isApart = high < 0.8 * published || low > 1.25 * published
    const isNone = low >= 1 / 1.1 && high <= 1.1 && isApart
    if (verdict === 'not reproduced here')
      ok(isNone || sides[published > 1 ? 1 : 0], `${low} to ${high} against ${published}`)
    if (verdict.startsWith('direction holds')) ok(sides[published > 1 ? 0 : 1])
    if (verdict === 'direction holds, size differs') ok(isApart)
    if (verdict === 'direction holds, size undecided') ok(!isApart && !isWithin)
    if (verdict === 'undecided here') ok(low <= 1 && high >= 1 && !isNone)
    equal(
      decide(interval(1 / high, 1 / low), 1 / published),
      verdict,
      'a ratio upside down is the same claim',
    )
  }
  equal(seen.size, 5)
})
