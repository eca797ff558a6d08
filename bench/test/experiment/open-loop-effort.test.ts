import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { readConfig } from '@startgrid/shared/process/config.ts'
import { readOpenLoopOptions } from '../../src/cli/options.ts'
import {
  BEYOND,
  CAPACITY_EFFORT,
  COMMON,
  capacityMs,
  durationFor,
  LATENCY_EFFORT,
  OVERLOAD_EFFORT,
  overloadConnections,
} from '../../src/experiment/open-loop-effort.ts'
import type { OpenLoopKind } from '../../src/experiment/options.ts'
import { createOpenLoopResult } from '../../src/experiment/result.ts'
import { capacityMethod } from '../../src/measure/openloop/capacity.ts'
import { latencyMethod, rateOfRole } from '../../src/measure/openloop/latency.ts'
import { overloadMethod } from '../../src/measure/openloop/overload.ts'
import { expectedOpenLoopMs } from '../../src/measure/openloop/session.ts'
import { cellOf, resultOf, trialOf } from '../judge/openloop/trials.ts'

const MINUTE = 60_000

function expectedMs(kind: OpenLoopKind, args: readonly string[]): number {
  const options = readOpenLoopOptions(kind, args)
  const result = createOpenLoopResult(kind, options, '')
  const { profile } = options
  const methods = {
    capacity: () => capacityMethod(result, CAPACITY_EFFORT[profile]),
    latency: () => latencyMethod(result, LATENCY_EFFORT[profile], null),
    overload: () => overloadMethod(result, OVERLOAD_EFFORT[profile]),
  }
  return expectedOpenLoopMs(result, methods[kind]())
}

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

  test('lets every connection get eight responses where the capacity is measured, up to 3 s', () => {
    assert.equal(capacityMs(640, { connections: 64 }), 800)
    assert.equal(capacityMs(1e6, { connections: 64 }), 300)
    assert.equal(capacityMs(56, { connections: 64 }), 3000)
  })
})

describe('open loops', () => {
  // An overload meets each page with load shedding and without.
  for (const [kind, most] of [
    ['capacity', 75],
    ['latency', 75],
    ['overload', 110],
  ] as const) {
    test(`${kind} takes under ${most} s per framework by default, under a minute with --quick, and more with --thorough`, () => {
      const usual = expectedMs(kind, [])
      const each = usual / FRAMEWORKS.length / 1000
      assert.ok(each < most && each > 15, `default: ${each} s per framework`)
      assert.ok(expectedMs(kind, ['--quick']) < MINUTE, `quick: ${expectedMs(kind, ['--quick'])} ms`)
      assert.ok(expectedMs(kind, ['--thorough']) > 2 * usual)
    })
  }

  test('has no twins, the whole warm-up in every topology, and the bound', () => {
    const options = readOpenLoopOptions('capacity', [
      '--only',
      'node/hello',
      '--topology',
      'direct,nginx',
      '--p99',
      '20ms',
    ])
    const { cells, settings } = createOpenLoopResult('capacity', options, '')
    assert.deepEqual(
      cells.map(({ id }) => id),
      ['node/hello direct', 'node/hello nginx'],
    )
    assert.equal(cells[0]?.warmupMs, cells[1]?.warmupMs)
    assert.equal(settings.p99Ms, 20)
  })
})

describe('the common rate', () => {
  const cells = [cellOf('node/ssr'), cellOf('koa/ssr'), cellOf('njs/ssr'), cellOf('bun/hello')]
  const closedLoop = (app: string, achieved: number) =>
    trialOf({ cell: `${app} direct`, purpose: 'capacity', level: 'closed loop', offered: null, achieved })
  const trials = [closedLoop('node/ssr', 6011), closedLoop('koa/ssr', 4444), closedLoop('bun/hello', 90_000)]

  test('is half of what the slowest cell of the role can do', () => {
    assert.equal(rateOfRole(resultOf('latency', trials, { cells }), 'ssr', LATENCY_EFFORT.default), 2220)
    assert.equal(rateOfRole(resultOf('latency', trials, { cells }), 'hello', LATENCY_EFFORT.default), 45_000)
  })

  test('does not hear a cell at whose rate no p99 could be printed', () => {
    const slow = [...trials, closedLoop('njs/ssr', 60)]
    assert.equal(rateOfRole(resultOf('latency', slow, { cells }), 'ssr', LATENCY_EFFORT.default), 2220)
  })

  test('does not hear what others disturbed, and is unknown before anything was measured', () => {
    const disturbed = { ...closedLoop('koa/ssr', 100), disturbed: true }
    assert.equal(
      rateOfRole(resultOf('latency', [...trials, disturbed], { cells }), 'ssr', LATENCY_EFFORT.default),
      2220,
    )
    assert.equal(rateOfRole(resultOf('latency', [], { cells }), 'ssr', LATENCY_EFFORT.default), null)
  })

  test('takes a survey of its own, unless it is given', () => {
    const result = resultOf('latency', [], { cells, launches: 3 })
    assert.equal(latencyMethod(result, LATENCY_EFFORT.default, null).launches, 4)
    assert.equal(latencyMethod(result, LATENCY_EFFORT.default, 1000).launches, 3)
    assert.equal(COMMON, 'common')
  })
})

test('an overload has room for a queue of four times the limit of an app', () => {
  const { maxQueueWaitMs } = readConfig({})
  for (const capacity of [1000, 4000])
    assert.ok(overloadConnections(capacity) >= (4 * maxQueueWaitMs * capacity) / 1000)
  // At least 1,000; at most 4,000, because open files have a limit.
  assert.equal(overloadConnections(54), 1000)
  assert.equal(overloadConnections(30_000), 4000)
})
