import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isTaken, keepQuiet } from '../../src/judge/disturbance.ts'
import { type Evidence, type OfferedLoad, whyNotOffered, whyVoid, wrongCells } from '../../src/judge/gates.ts'
import { newHeat } from '../../src/measure/heat.ts'
import type { Slice } from '../../src/result/heat.ts'
import { createEvidence, createLaunch, createSlice, createSpec, QUIET, SILENT } from '../fixtures/evidence.ts'

/** @param found all of it, or what it matches; null: the number counts */
function says(reason: string | null, found: string | RegExp | null) {
  if (found instanceof RegExp) assert.match(reason ?? '', found)
  else assert.equal(reason, found)
}

const judge = (more: Partial<Evidence>) => whyVoid(createEvidence(more))

test('a good cell counts', () => says(whyVoid(createEvidence()), null))

test('where the system tells nothing (macOS), the number counts', () => {
  const slice = { cpuSeconds: { app: null, proxy: null, generator: null }, disturbance: SILENT }
  says(judge({ cores: null, slices: createLaunch(slice, slice) }), null)
})

test('the contract: the first difference is told, the others are counted', () => {
  const differing = (...differences: string[]) => judge({ conformance: { differences } })
  says(differing(), null)
  says(differing('a: expected 1, got 2'), 'it breaks the contract: a: expected 1, got 2')
  says(differing('a', 'b', 'c'), 'it breaks the contract: a, and 2 more differences')
  says(judge({ conformance: null }), 'the contract was not checked')
  says(judge({ conformance: null, cell: createSpec({ role: null }) }), null)
})

describe('failed requests', () => {
  const measured = (...slices: Partial<Slice>[]) =>
    judge({ slices: [...createLaunch({}), ...createLaunch(...slices)] })

  test('one in one slice voids the cell, and all are added by kind', () => {
    says(measured({}, {}), null)
    for (const kind of ['connect', 'reset', 'timeout', 'status', 'parse'])
      says(measured({}, { errors: { [kind]: 1 } }), new RegExp(`1 ${kind}$`))
    says(
      measured({ errors: { reset: 1000, status: 2 } }, { errors: { reset: 3 } }),
      '1,005 requests failed beside 110,000 responses: 1,003 reset and 2 status',
    )
  })

  test('are excused neither by a neighbour nor by the warm-up', () => {
    says(measured({ errors: { reset: 1 }, disturbed: true }), /^1 requests failed/)
    const warmup = createSlice({ phase: 'warmup', errors: { status: 1 } })
    says(judge({ slices: [warmup, createSlice()] }), /^1 requests failed/)
  })

  test('what ended a cell is the reason; without a response it does not count, and not asked is not known', () => {
    says(judge({ failures: ['the app was ended by SIGKILL'] }), 'the app was ended by SIGKILL')
    says(judge({ slices: [] }), null)
    says(judge({ slices: [createSlice({ requests: 0 })] }), 'no request got a response')
  })
})

test('responses: one wrong body voids the cell, wherever it came; what nobody compared does not count', () => {
  for (const slice of [{ errors: { body: 1 } }, { errors: { body: 1 }, disturbed: true }])
    says(judge({ slices: createLaunch({}, slice) }), '1 responses had another body than expected')
  const warmup = createSlice({ phase: 'warmup', errors: { body: 2 } })
  says(judge({ slices: [warmup, createSlice()] }), '2 responses had another body than expected')
  const slices = createLaunch({}, {}).map((slice) => ({ ...slice, checked: 0 }))
  says(judge({ slices }), 'no response was compared')
  says(judge({ slices: [...slices, createSlice({ checked: 1 })] }), null)
})

test('wrong cells: what could not be run, broke the contract or responded wrongly', () => {
  const record = { checked: 48, remembered: false }
  const conformance = [
    { ...record, cell: 'right', differences: [] },
    { ...record, cell: 'different', differences: ['x'] },
  ]
  const slices = [createSlice({ cell: 'right' }), createSlice({ cell: 'late', errors: { timeout: 1 } })]
  const failures = [{ cell: 'ended', reason: 'it ended' }]
  const heats = [{ ...newHeat({ race: 'hello', heat: 1 }), slices, failures }]
  assert.deepEqual([...wrongCells({ conformance, heats })], ['different', 'ended', 'late'])
})

describe('the server', () => {
  const nobody = { ...QUIET, serverForeign: 0, serverWait: 0 }
  const proxied = createSpec({ topology: 'nginx' })

  /** Of 200 ms. */
  const used = (app: number | null, proxy: number | null, more: Partial<Slice> = {}): Partial<Slice> => ({
    ...{ cpuSeconds: { app, proxy, generator: 0.2 }, disturbance: nobody },
    ...more,
  })
  const judgeAs = (more: Partial<Evidence>, ...slices: Partial<Slice>[]) =>
    judge({ slices: createLaunch(...slices), ...more })
  const behind = (...slices: Partial<Slice>[]) => judgeAs({ cell: proxied }, ...slices)

  test('must use 95 % of its core, together with its proxy; in a direct cell the proxy has no part', () => {
    says(behind(used(0.1, 0.0901)), null)
    says(behind(used(0.1, 0.0899)), 'server and proxy used 95 % of their core')
    says(judgeAs({}, used(0.142, 0.05)), 'the server used 71 % of its core')
  })

  test('is not judged by warm-up and slices that others disturbed', () => {
    const [disturbed, warmup] = [{ disturbed: true }, { phase: 'warmup' as const }]
    says(
      behind(used(0.18, 0), used(0.2, 0, disturbed), used(0.2, 0, warmup)),
      'server and proxy used 90 % of their core',
    )
  })

  test('is excused by a neighbour that stops the generator at times, but not where it waits in every slice', () => {
    const slices = (...uses: number[]) => behind(...uses.map((use) => used(0.2 * use, 0)))
    says(slices(0.5, 0.99, 0.98, 0.6, 1, 0.97, 0.98, 0.52), null)
    says(slices(0.9, 0.91, 0.92, 0.9, 0.93, 0.92, 0.91, 0.9), /used 92 % of their core$/)
  })

  test('could not use what others took of the core; where they took every slice nothing can be told', () => {
    const slice = used(0.1, 0.086)
    says(behind(slice), /used 93 % of their core$/)
    for (const part of ['serverForeign', 'serverWait', 'generatorWait'])
      says(behind({ ...slice, disturbance: { ...nobody, [part]: 0.04 } }), null)
    const slices = createLaunch(used(0.02, 0, { disturbed: true }))
    says(judge({ slices, counted: slices.slice(4) }), null)
  })

  test('that idles says nothing where the host took much of the CPU', () => {
    const on = (stolen: number) => judgeAs({ cell: proxied, stolen }, used(0.14, 0))
    says(on(0.23), null)
    says(on(0.02), /used 70 %/)
  })

  test('that a generator cannot load is void beside one that blocks its core, though either generator polls all the time', () => {
    const [fast, blocking] = [used(0.13, 0, { requests: 30_000 }), used(0.2, 0, { requests: 20 })]
    says(judgeAs({}, fast, fast, fast), 'the server used 65 % of its core')
    says(judgeAs({}, blocking, blocking, blocking), null)
  })

  test('is not judged where it shares no core, or nothing is known', () => {
    says(judgeAs({ cell: createSpec({ serverBound: false }) }, used(0, 0)), null)
    says(judgeAs({ cores: null }, used(0.1, 0)), null)
    says(judgeAs({}, used(null, 0)), null)
    says(behind(used(0.1, null)), null)
    says(judgeAs({ slices: [] }), null)
  })
})

describe('what others visibly took', () => {
  test('of a stretch of load is too much if any of the four parts passes 20 %', () => {
    assert.deepEqual([isTaken(QUIET), isTaken(SILENT)], [false, false])
    for (const part of ['serverWait', 'generatorWait', 'serverForeign', 'generatorForeign'] as const) {
      assert.equal(isTaken({ ...QUIET, [part]: 0.2 }), false, part)
      assert.equal(isTaken({ ...QUIET, [part]: 0.201 }), true, part)
      assert.equal(isTaken({ ...SILENT, [part]: 0.201 }), true, `${part} alone`)
    }
  })

  test('does not count, unless less than half would remain', () => {
    const keep = (...quiet: boolean[]) => keepQuiet(quiet, (one) => one)
    assert.deepEqual(keep(true, true, false), { kept: [true, true], crowded: false })
    assert.deepEqual(keep(true, false), { kept: [true], crowded: false })
    assert.deepEqual(keep(true, false, false), { kept: [true, false, false], crowded: true })
    assert.deepEqual(keep(), { kept: [], crowded: false })
  })

  test('voids no cell', () => {
    const slices = createLaunch({ disturbance: { ...QUIET, serverWait: 0.5 }, disturbed: true })
    says(judge({ slices }), null)
    says(judge({ slices, counted: slices.slice(4) }), null)
  })
})

test('the offered load gets its responses within 1 %, and is sent on time', () => {
  const lag = { p50: 0.01, p90: 0.05, p99: 0.4, p999: 2, max: 9 }
  const offer = (more: Partial<OfferedLoad>) =>
    whyNotOffered({ offered: 20_000, achieved: 20_000, lag, generatorBound: false, ...more })
  for (const achieved of [19_800, 20_000, 20_200]) says(offer({ achieved }), null)
  for (const achieved of [19_799, 20_201]) says(offer({ achieved }), /got a response$/)
  says(offer({ achieved: 15_000 }), /^15,000 of 20,000 requests per second/)
  says(offer({ lag: { ...lag, p99: 1 } }), null)
  says(offer({ lag: { ...lag, p99: 1.2 } }), /at most 1\.20 ms late$/)
  says(offer({ generatorBound: true, achieved: 12_000 }), /generator could not/)
  says(offer({ lag: null }), null)
})
