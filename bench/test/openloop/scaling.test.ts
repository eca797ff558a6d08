import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CapacityResult, CellSpec, Trial } from '../../src/model/result.ts'
import { analyseOpenLoop } from '../../src/openloop/analyse.ts'
import { replicaScaling } from '../../src/openloop/scaling.ts'
import { sectionsOf } from '../../src/report/sections.ts'
import { cellOf, resultOf, trialOf } from './trials.ts'

const COUNTS = [1, 2, 4]
const CELLS: CellSpec[] = COUNTS.map((replicas) =>
  cellOf('node/hello', { id: `node/hello direct ×${replicas}`, replicas }),
)

/** A staircase that settles at this rate. */
function settled(cell: string, launch: number, rate: number): Trial[] {
  const step = (level: number, p99: number) =>
    trialOf({ cell, launch, level: `${level}/s`, latency: { p50: 1, p90: 2, p99, p999: 200, max: 300 } })
  const above = Number((rate * 1.02).toPrecision(4))
  return [step(rate, 20), step(above, 80), step(rate, 20), step(above, 80)]
}

/** Three launches of a rate that grows by the law with a contention of 5 %, each launch at a level of its own. */
function measured(bootIds: readonly string[], cpus: number[] = [0, 1, 2, 3]): CapacityResult {
  const trials = [1, 2, 3].flatMap((launch) =>
    CELLS.flatMap(({ id, replicas }) => {
      const count = replicas ?? 1
      const rate = (1000 * launch * count) / (1 + 0.05 * (count - 1))
      return settled(id, launch, Number(rate.toPrecision(4)))
    }),
  )
  const result = resultOf('capacity', trials, { cells: CELLS, p99Ms: 50 })
  const { machine } = result
  const nodes = bootIds.map((bootId, index) => ({
    ...{ name: `node${index + 1}`, role: index === 0 ? ('servers' as const) : ('generators' as const) },
    ...{ cpus, bootId, machine },
  }))
  const site = { context: null, namespace: 'startgrid', serverNode: null, generatorNode: null }
  return {
    ...result,
    mode: 'kubernetes',
    cluster: {
      ...{ ...site, generators: 1, version: 'v1.34.1', nodes, roundTripMs: 0.2 },
      ...{ agent: { cpuSeconds: 0, seconds: 0 }, voided: [] },
    },
  }
}

describe('capacity by number of replicas', () => {
  test('is the ratio to one replica of the same round, with the contention that made it', () => {
    const [curve, ...others] = replicaScaling(measured(['a', 'b']))
    assert.deepEqual(others, [])
    assert.deepEqual([curve?.title, curve?.withheld], ['node/hello through a Service', null])
    const ratios = curve?.points.map(({ workers, ratio }) => [workers, Number(ratio.value.toFixed(2))])
    assert.deepEqual(ratios, [
      [1, 1],
      [2, 1.9],
      [4, 3.48],
    ])
    assert.ok(Math.abs((curve?.fit?.contention.value ?? 0) - 0.05) < 0.002)
    assert.ok(Math.abs(curve?.fit?.coherency.value ?? 1) < 0.002)
  })

  test('has no curve where nodes are one machine, and the report says so', () => {
    const result = analyseOpenLoop(measured(['a', 'a']))
    assert.equal(result.kind, 'capacity')
    const [curve] = result.kind === 'capacity' ? result.scaling : []
    assert.deepEqual([curve?.points, curve?.fit], [[], null])
    const [section] = sectionsOf(result)
    assert.match(section?.title ?? '', /^hello through a Service: /)
    assert.deepEqual(section?.notes, [
      'No fit of contention: node1 and node2 are nodes of one machine, so servers and generators share its processors: the rates show that the ' +
        'measurement works, and no curve.',
    ])
    assert.ok(section?.table.rows.some(({ cells }) => cells[0] === 'node ×4'))
  })

  test('has no fit of replicas that shared processors', () => {
    const [curve] = replicaScaling(measured(['a', 'b'], [0, 1]))
    assert.equal(curve?.points.length, 3)
    assert.equal(curve?.fit, null)
    assert.match(curve?.withheld ?? '', /need at least 3 numbers of workers, each with a core of its own/)
  })

  test('is empty without replicas', () => {
    assert.deepEqual(replicaScaling(resultOf('capacity', [])), [])
  })
})
