import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readOptions } from '../../src/cli/options.ts'
import { gridExperiment } from '../../src/experiment/grid.ts'
import { BEYOND, durationFor, openLoopsMs } from '../../src/experiment/open-loop.ts'
import { createResult } from '../../src/experiment/result.ts'

describe('how long a load lasts', () => {
  test('gives enough samples beyond the percentile over all launches', () => {
    const free = { minMs: 0, maxMs: Number.POSITIVE_INFINITY }
    for (const [percentile, rate] of [
      [99, 1000],
      [99.9, 20_000],
      [50, 3],
    ] as const) {
      const samples = (3 * rate * durationFor(percentile, rate, 1 / 3, free)) / 1000
      const beyond = samples * (1 - percentile / 100)
      assert.ok(beyond >= 1.05 * BEYOND && beyond < 1.15 * BEYOND, `${beyond} beyond p${percentile}`)
    }
  })

  test('stays within its ends', () => {
    const span = { minMs: 1000, maxMs: 3000 }
    assert.equal(durationFor(99, 1e6, 1, span), 1000)
    assert.equal(durationFor(99, 1, 1, span), 3000)
  })
})

test('all loads of a heat take the longest each, until the rate is known', () => {
  const settings = { openLoop: { minMs: 1000, maxMs: 3000 }, heats: 3 }
  const cells = [{ openLoop: true }, { openLoop: false }, { openLoop: true }]
  assert.equal(openLoopsMs(cells, settings), 6000)
  assert.equal(openLoopsMs(cells, settings, 1e6), 2000)
  assert.equal(openLoopsMs(cells, { ...settings, openLoop: null }), 0)
})

describe('--latency', () => {
  const plan = (...args: string[]) => {
    const options = readOptions(args)
    return createResult(gridExperiment(options), options, '')
  }

  test('asks every app in every topology, and neither twins nor pages that NGINX interprets', () => {
    const { cells, settings } = plan('--latency', '--only', 'node,njs')
    assert.deepEqual(
      cells.filter(({ openLoop }) => !openLoop).map(({ app }) => app),
      ['node/hello#2', 'njs/ssr', 'node/ssr#2', 'node/status#2'].flatMap((app) => [app, app]),
    )
    assert.deepEqual(settings.openLoop, { minMs: 500, maxMs: 3000 })
  })

  test('is not measured unless it is asked for', () => {
    const { cells, settings } = plan()
    assert.equal(settings.openLoop, null)
    assert.ok(cells.every(({ openLoop }) => !openLoop))
  })
})
