import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Evidence,
  isTaken,
  isVoided,
  judgeCell,
  judgeConformance,
  judgeErrors,
  judgeInterference,
  judgeLittlesLaw,
  judgeOfferedLoad,
  judgeResponses,
  judgeServerBound,
  judgeWarmup,
  keepQuiet,
  type OfferedLoad,
} from '../../src/judge/gates.ts'
import type { GateResult } from '../../src/model/figures.ts'
import type { Slice } from '../../src/model/heat.ts'
import type { DriverRecord } from '../../src/model/provenance.ts'
import {
  countedOf,
  createEvidence,
  createLaunch,
  createSlice,
  createSpec,
  QUIET,
  SILENT,
} from '../fixtures/evidence.ts'

/** @param finding all of it, or what it matches */
function says(
  { verdict, finding }: GateResult,
  expected: GateResult['verdict'],
  found: string | RegExp = /./,
) {
  assert.equal(verdict, expected, finding)
  if (typeof found === 'string') assert.equal(finding, found)
  else assert.match(finding, found)
}

describe('all gates of a cell', () => {
  const broken = createLaunch({ errors: { reset: 1 } }, { errors: { body: 1 } })
  const idle = createLaunch({ cpuSeconds: { app: 0.1, proxy: 0, generator: 0.2 } })
  const loud = createLaunch({ disturbance: { ...QUIET, serverWait: 0.5 }, disturbed: true })

  test('a good cell passes, each gate once', () => {
    const gates = judgeCell(createEvidence())
    assert.equal(isVoided(gates), false)
    assert.equal(new Set(gates.map(({ gate }) => gate)).size, gates.length)
    assert.deepEqual(new Set(gates.map(({ advice }) => advice)), new Set([null]))
  })

  const wrk: DriverRecord = { name: 'wrk', version: '' }
  for (const [gates, more] of [
    [['conformance'], { conformance: { checked: 48, differences: ['x'] } }],
    [['errors', 'responses'], { launches: [broken] }],
    [['errors'], { failures: ['the app ended with exit code 1'] }],
    [['server-bound'], { launches: [idle] }],
    [['warmup'], { cold: { ratio: 1.4, steady: false } }],
    [['littles-law'], { driver: wrk, cell: createSpec({ connections: 128 }) }],
  ] satisfies [string[], Partial<Evidence>][]) {
    test(`what is wrong fails its own gate: ${gates.join()}`, () => {
      const results = judgeCell(createEvidence(more))
      const failed = results.filter(({ verdict }) => verdict === 'failed')
      assert.deepEqual(new Set(failed.map(({ gate }) => gate)), new Set(gates))
      assert.equal(isVoided(results), true)
      for (const { finding, advice } of failed) {
        assert.match(finding, /[^.]$/)
        assert.match(advice ?? '', /^[A-Zw].*\.$/)
      }
    })
  }

  test('where the system tells nothing (macOS), the number counts, and what is not known is said', () => {
    const slice = { cpuSeconds: { app: null, proxy: null, generator: null }, disturbance: SILENT }
    const results = judgeCell(createEvidence({ cores: null, launches: [createLaunch(slice, slice)] }))
    assert.equal(isVoided(results), false)
    const unknown = results.filter(({ verdict }) => verdict === 'unknown').map(({ gate }) => gate)
    assert.deepEqual(unknown, ['server-bound', 'interference'])
  })

  test('a neighbour voids nothing', () => {
    const gates = judgeCell(createEvidence({ launches: [loud], counted: countedOf([loud]), crowded: 1 }))
    assert.ok(gates.every(({ verdict }) => verdict !== 'failed'))
  })
})

test('the contract: the first difference is told, the others are counted, the app is named without its number', () => {
  const cell = createSpec({ app: 'fastify/hello#2', twinOf: 'fastify/hello' })
  const judge = (differences: string[] | null) =>
    judgeConformance({ cell, conformance: differences && { checked: 48, differences } })
  says(judge([]), 'passed', '48 checks of the contract passed')
  says(judge(['a: expected 1, got 2']), 'failed', 'it breaks the contract: a: expected 1, got 2')
  assert.equal(judge(['a']).advice, 'Correct fastify/hello, then measure again.')
  says(judge(['a', 'b', 'c']), 'failed', 'it breaks the contract: a, and 2 more differences')
  says(judge(null), 'failed', 'the contract was not checked')
})

describe('errors', () => {
  const judge = (...measured: Partial<Slice>[]) =>
    judgeErrors({ launches: [createLaunch({}), createLaunch(...measured)], failures: [] })

  test('one in one slice voids the cell, and all are added by kind', () => {
    says(judge({}, {}), 'passed', 'none of 110,000 requests failed')
    for (const kind of ['connect', 'reset', 'timeout', 'status', 'parse'])
      says(judge({}, { errors: { [kind]: 1 } }), 'failed', new RegExp(`1 ${kind}$`))
    says(
      judge({ errors: { reset: 1000, status: 2 } }, { errors: { reset: 3 } }),
      'failed',
      '1,005 requests failed beside 110,000 responses: 1,003 reset and 2 status',
    )
  })

  test('are excused neither by a neighbour nor by the warm-up; a wrong body has a gate of its own', () => {
    says(judge({ errors: { reset: 1 }, disturbed: true }), 'failed')
    const warmup = createSlice({ phase: 'warmup', errors: { status: 1 } })
    says(judgeErrors({ launches: [[warmup, createSlice()]], failures: [] }), 'failed')
    says(judge({ errors: { body: 3 } }), 'passed')
  })

  test('what ended a cell is the finding; without a response it does not pass, and not asked is not known', () => {
    const failures = ['the app was ended by SIGKILL']
    says(judgeErrors({ launches: [createLaunch({})], failures }), 'failed', 'the app was ended by SIGKILL')
    says(judgeErrors({ launches: [], failures: [] }), 'unknown')
    says(judgeErrors({ launches: [[createSlice({ requests: 0 })]], failures: [] }), 'failed')
  })
})

test('responses: one wrong body voids the cell, wherever it came; what nobody compared does not pass', () => {
  const judge = (...launches: Slice[][]) => judgeResponses({ launches })
  says(
    judge(createLaunch({ checked: 600 }), createLaunch({ checked: 700, disturbed: true })),
    'passed',
    '2,100 responses were compared, all were right',
  )
  for (const slice of [{ errors: { body: 1 } }, { errors: { body: 1 }, disturbed: true }])
    says(judge(createLaunch({}, slice)), 'failed')
  const warmup = createSlice({ phase: 'warmup', errors: { body: 2 } })
  says(judge([warmup, createSlice()]), 'failed', '2 responses had another body than expected')
  const launch = createLaunch({}, {}).map((slice) => ({ ...slice, checked: 0 }))
  says(judge(launch), 'failed')
  says(judge([...launch, createSlice({ checked: 1 })]), 'passed')
  says(judge(createLaunch({ errors: { status: 1 } })), 'passed')
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
    judgeServerBound(createEvidence({ launches: [createLaunch(...slices)], ...more }))
  const judge = (...slices: Partial<Slice>[]) => judgeAs({ cell: proxied }, ...slices)

  test('must use 95 % of its core, together with its proxy; in a direct cell the proxy has no part', () => {
    says(judge(used(0.1, 0.0901)), 'passed')
    says(judge(used(0.1, 0.0899)), 'failed', 'server and proxy used 95 % of their core')
    says(judgeAs({}, used(0.142, 0.05)), 'failed', 'the server used 71 % of its core')
  })

  test('is not judged by warm-up and slices that others disturbed', () => {
    const [disturbed, warmup] = [{ disturbed: true }, { phase: 'warmup' as const }]
    const result = judge(used(0.18, 0), used(0.2, 0, disturbed), used(0.2, 0, warmup))
    says(result, 'failed', 'server and proxy used 90 % of their core')
  })

  test('is excused by a neighbour that stops the generator at times, but not where it waits in every slice', () => {
    const slices = (...uses: number[]) => judge(...uses.map((use) => used(0.2 * use, 0)))
    says(slices(0.5, 0.99, 0.98, 0.6, 1, 0.97, 0.98, 0.52), 'passed')
    says(slices(0.9, 0.91, 0.92, 0.9, 0.93, 0.92, 0.91, 0.9), 'failed', /used 92 % of their core$/)
  })

  test('could not use what others took of the core; where they took every slice nothing can be told', () => {
    const slice = used(0.1, 0.086)
    says(judge(slice), 'failed')
    for (const part of ['serverForeign', 'serverWait', 'generatorWait'])
      says(judge({ ...slice, disturbance: { ...nobody, [part]: 0.04 } }), 'passed')
    const launches = [createLaunch(used(0.02, 0, { disturbed: true }))]
    says(judgeAs({ launches, counted: launches.map((one) => one.slice(4)) }), 'unknown')
  })

  test('that idles says nothing where the host took much of the CPU, and a busy one is busy', () => {
    const on = (stolen: number, slice: Partial<Slice>) => judgeAs({ cell: proxied, stolen }, slice)
    says(
      on(0.23, used(0.14, 0)),
      'unknown',
      "server and proxy used 70 % of their core, but the host took 23 % of this machine's CPU",
    )
    says(on(0.23, used(0.2, 0)), 'passed')
    says(on(0.02, used(0.14, 0)), 'failed')
  })

  test('that a generator cannot load is void beside one that blocks its core, though either generator polls all the time', () => {
    const [fast, blocking] = [used(0.13, 0, { requests: 30_000 }), used(0.2, 0, { requests: 20 })]
    says(judgeAs({}, fast, fast, fast), 'failed', 'the server used 65 % of its core')
    assert.match(
      judgeAs({}, fast).advice ?? '',
      /^Offer more --connections; .* generator cannot ask for more\.$/,
    )
    says(judgeAs({}, blocking, blocking, blocking), 'passed')
  })

  test('is not judged where it shares no core, or nothing is known', () => {
    says(judgeAs({ cell: createSpec({ serverBound: false }) }, used(0, 0)), 'not meant')
    says(judgeAs({ cores: null }, used(0, 0)), 'unknown')
    says(judgeAs({}, used(null, 0)), 'unknown')
    says(judge(used(0.2, null)), 'unknown')
    says(judgeAs({ launches: [] }), 'unknown')
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

  test('is said, and voids no cell; it is not known where the system tells nothing', () => {
    const quiet = createLaunch({}, {}, {})
    const loud = { disturbance: { ...QUIET, serverForeign: 0.3 }, disturbed: true }
    const lost = createLaunch(loud, loud, loud)
    const judge = (launches: Slice[][], crowded = 0) => judgeInterference({ launches, crowded })
    says(judge([quiet, quiet]), 'passed', 'others took at most 2.0 % of any slice')
    says(judge([createLaunch(loud, {})]), 'passed', 'others disturbed 1 of 2 slices')
    const most = 'others disturbed 6 of 9 slices; in 2 of 3 heats all slices count'
    says(judge([quiet, lost, lost], 2), 'passed', most)
    says(judge([createLaunch({ disturbance: SILENT })]), 'unknown')
    says(judge([createLaunch()]), 'unknown')
    says(judge([createLaunch({ disturbance: { ...SILENT, serverWait: 0 } })]), 'passed')
  })
})

describe('the warm-up', () => {
  const judge = (launches: Evidence['launches'], cold?: Evidence['cold']) =>
    judgeWarmup({ cell: createSpec(), launches, counted: countedOf(launches), cold })
  const ending = (seconds: number) => [
    createSlice({ phase: 'warmup', seconds }),
    createSlice(),
    createSlice(),
  ]

  test('is as long as the cell says in every launch that was measured; a slice may end a little early', () => {
    says(judge([createLaunch({}, {})]), 'passed')
    says(judge([ending(0.96)]), 'passed')
    const short = 'only 940 of 1000 ms were discarded before measuring'
    says(judge([createLaunch({}, {}), ending(0.94)]), 'failed', short)
    says(judge([createLaunch()]), 'unknown')
  })

  test('of a cell that was cold at first is mended without its first slices, unless it never became steady', () => {
    const launches = [createLaunch({}, {})]
    says(
      judge(launches, { ratio: 1.4, steady: true }),
      'passed',
      '1000 ms were discarded before measuring; the first slices then cost 40 % more than later ones, and do not count',
    )
    says(judge(launches, { ratio: 1.4, steady: false }), 'failed')
    const { advice } = judge(launches, { ratio: 1.4, steady: false })
    assert.equal(advice, 'Read what it does meanwhile: its own code may be compiled, or a cache filled.')
    says(judge([createLaunch({ disturbed: true })], { ratio: 1.4, steady: true }), 'failed')
    says(judge([createLaunch({})], null), 'passed', '1000 ms were discarded before measuring')
  })
})

test("Little's law: rate × mean latency is the number of connections, within 10 %; requests weigh alike", () => {
  const cell = createSpec({ connections: 64 })
  const driver: DriverRecord = { name: 'wrk', version: '4.1.0' }
  /** Seconds at which 50,000 responses per second have so many requests in flight. */
  const latencyFor = (inFlight: number) => ({ meanLatency: inFlight / 50_000 })
  const judge = (...slices: Partial<Slice>[]) =>
    judgeLittlesLaw({ cell, driver, counted: countedOf([createLaunch(...slices)]) })
  for (const inFlight of [64, 58, 70]) says(judge(latencyFor(inFlight)), 'passed')
  for (const inFlight of [57, 71, 0]) says(judge(latencyFor(inFlight)), 'failed')
  says(judge(latencyFor(32)), 'failed', /^rate × mean latency is 32\.0 requests in flight on 64 connections/)
  assert.match(judge(latencyFor(32)).advice ?? '', /^wrk /)
  const long = { seconds: 2, requests: 10_000, meanLatency: 64 / 5000 }
  says(judge(long, latencyFor(64), { ...latencyFor(1), disturbed: true }), 'passed', / 64\.0 requests/)
  const own: DriverRecord = { ...driver, name: 'startgrid' }
  const counted = countedOf([createLaunch(latencyFor(1))])
  says(judgeLittlesLaw({ cell, driver: own, counted }), 'not meant')
  says(judgeLittlesLaw({ cell, driver, counted: [] }), 'unknown')
})

test('the offered load gets its responses within 1 %, and is sent on time', () => {
  const lag = { p50: 0.01, p90: 0.05, p99: 0.4, p999: 2, max: 9 }
  const judge = (more: Partial<OfferedLoad>) =>
    judgeOfferedLoad({ offered: 20_000, achieved: 20_000, lag, generatorBound: false, ...more })
  for (const achieved of [19_800, 20_000, 20_200]) says(judge({ achieved }), 'passed')
  for (const achieved of [19_799, 20_201]) {
    says(judge({ achieved }), 'failed')
    assert.equal(typeof judge({ achieved }).advice, 'string')
  }
  says(judge({ achieved: 15_000 }), 'failed', /^15,000 of 20,000 requests per second/)
  says(judge({ lag: { ...lag, p99: 1 } }), 'passed')
  says(judge({ lag: { ...lag, p99: 1.2 } }), 'failed', /at most 1\.20 ms late$/)
  says(judge({ generatorBound: true, achieved: 12_000 }), 'failed', /generator could not/)
  says(judge({ lag: null }), 'unknown')
})
