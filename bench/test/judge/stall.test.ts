import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stallOf } from '../../src/judge/stall.ts'
import { commentOf, documentOf } from '../../src/report/report.ts'
import type { Result } from '../../src/result/result.ts'
import { golden } from '../fixtures/golden.ts'

/** The stored race, with the longest wait of each slice; one per start is another. */
function raceWith(longest: (system: string) => readonly [usual: number, once: number]): Result {
  const result = structuredClone(golden('commands')) as Result
  for (const heat of result.heats)
    for (const { id, system } of result.cells)
      for (const [index, slice] of heat.slices.filter(({ cell }) => cell === id).entries())
        slice.longest = longest(system)[index === 5 ? 1 : 0]
  return result
}

test('a server that freezes once in each start is named, in the first sentence and in the comment', () => {
  const pairs = (golden('commands') as Result).analysis?.findings ?? []
  const pair = pairs.find(({ isTwin }) => !isTwin)
  assert.ok(pair !== undefined)
  const { over } = pair
  const frozen = raceWith((system) => (system === over ? [0.01, 2] : [0.01, 0.02]))
  const stall = stallOf(pair, frozen)
  assert.deepEqual(stall, { system: over, seconds: 2, other: 0.02 })
  const noisy = raceWith((system) => [0.01, system === over ? 2 : 0.06])
  assert.equal(stallOf(pair, noisy)?.system, over)
  // In the open loop, which lasts longer than the slices.
  const inOpenLoop = raceWith(() => [0.01, 0.02])
  for (const { trials } of inOpenLoop.heats)
    for (const trial of trials) trial.longest = trial.cell.endsWith(over) ? 2 : 0.02
  assert.equal(stallOf(pair, inOpenLoop)?.system, over)
  // A host that stops both, and one that is slow all the time.
  assert.equal(
    stallOf(
      pair,
      raceWith(() => [0.01, 2]),
    ),
    undefined,
  )
  assert.equal(
    stallOf(
      pair,
      raceWith((system) => [0.01, system === over ? 0.5 : 0.02]),
    ),
    undefined,
  )

  for (const finding of frozen.analysis?.findings ?? [])
    if (finding.over === over && finding.under === pair.under) Object.assign(finding, { stall })
  const says = `but ${over} stopped responding for 2.0 s in the typical start, the other for 0.020 s`
  const { finding, summary } = documentOf(frozen)
  assert.ok([finding, ...(summary ?? [])].join().includes(`; ${says}`))
  assert.ok(commentOf(frozen).includes(says))
})
