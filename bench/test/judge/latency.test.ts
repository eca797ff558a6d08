import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { analyse } from '../../src/judge/analysis.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Trial } from '../../src/result/heat.ts'
import type { Result } from '../../src/result/result.ts'
import { histogramOf, trialOf, uniform } from '../fixtures/evidence.ts'
import { rankedOf } from '../fixtures/golden.ts'
import { rateResult } from '../fixtures/results.ts'

const APPS = ['node/hello direct', 'koa/hello direct', 'bun/hello direct', 'node/hello nginx']

/** Milliseconds of the median, by cell. */
const MEDIANS = [1, 2, 1.5, 3]

const HISTOGRAMS = new Map(MEDIANS.map((ms) => [ms, histogramOf(uniform(1000, 2 * ms))]))

/** Open loops of four cells of hello after the passes of every heat; launches differ by a tenth. */
function withLatencies(
  change: (trial: Trial) => Partial<Trial> = () => ({}),
  tooSlow: string[] = [],
): Result {
  const result = rateResult()
  for (const cell of result.cells) cell.openLoop = APPS.includes(cell.id)
  for (const heat of result.heats) {
    if (heat.race !== 'hello') continue
    heat.commonRate = { rate: 10_000, tooSlow }
    heat.trials = APPS.filter((cell) => !tooSlow.includes(cell)).map((cell) => {
      const histogram = HISTOGRAMS.get(MEDIANS[APPS.indexOf(cell)] ?? 1) ?? ''
      const trial = trialOf({ cell, offered: 10_000, achieved: 10_000, histogram })
      return { ...trial, ...change(trial) }
    })
  }
  return { ...result, analysis: analyse(rankedOf(result), result) }
}

function figuresOf({ analysis }: Result, id: string) {
  const figures = analysis?.cells.find(({ cell }) => cell === id)
  assert.ok(figures)
  return figures
}

function textOf(result: Result, columns = 120): string {
  return formatTerminal(documentOf(result), { columns, color: false }).replace(/[^\S\n]+/g, ' ')
}

describe('latencies of a race of the grid', () => {
  const result = withLatencies()

  test('stand in the table of the race, with the rate', () => {
    const text = textOf(result)
    assert.match(text, /system × node 95 % rank req\/s 95 % CPU µs mean ms p50 ms p90 ms p97\.5 ms p99 ms/)
    assert.match(text, /^koa 0\.\S+ .* 2\.00 3\.60 3\.90 3\.96/m)
    assert.match(text, /Latencies: open loop at 10,000 requests per second, the same for all/)
    assert.doesNotMatch(textOf(rateResult()), /p50/)
  })

  test('are void by one error, and not asked of what is too slow: the table says why', () => {
    const wrong = withLatencies(
      ({ cell }) => (cell === 'koa/hello direct' ? { errors: { reset: 1 } } : {}),
      ['node/hello nginx'],
    )
    assert.equal(figuresOf(wrong, 'koa/hello direct').figures['median-latency'], undefined)
    const text = textOf(wrong, 1000)
    assert.match(text, /The latency of koa is void: 1 of 10001 requests failed \(1 reset\)\./)
    assert.match(
      text,
      /The latency of node is void: 10,000 requests per second are more than 90 % of what it can do\./,
    )
    assert.ok((figuresOf(wrong, 'koa/hello direct').figures.rate?.value ?? 0) > 0, 'its rate counts')
  })
})
