import { deepEqual, equal, match } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { analyse } from '../../src/judge/analysis.ts'
import { deriveWarnings } from '../../src/judge/derive-warnings.ts'
import { isCrowded, isTaken } from '../../src/judge/disturbance.ts'
import { type Evidence, whyVoid, wrongCells } from '../../src/judge/gates.ts'
import { newHeat } from '../../src/measure/heat.ts'
import type { Heat, Slice } from '../../src/result/heat.ts'
import type { Result, Warning } from '../../src/result/result.ts'
import { golden, withTrials } from '../fixtures/golden.ts'
import {
  createEvidence,
  createLaunch,
  createSlice,
  createSpec,
  QUIET,
  SILENT,
  trialOf,
} from '../fixtures/laboratory.ts'
import { rateResult } from '../fixtures/results.ts'

/** @param found all of it, or what it matches; null: the number counts */
function says(reason: string | null, found: string | RegExp | null) {
  if (found instanceof RegExp) match(reason ?? '', found)
  else equal(reason, found)
}

const judge = (more: Partial<Evidence> = {}) => whyVoid(createEvidence(more))

/** Each measured slice of one launch; none has errors. */
const measured = (...slices: Partial<Slice>[]): Partial<Evidence> => ({ slices: createLaunch(...slices) })
const warmup = (errors: Slice['errors']): Partial<Evidence> => ({
  slices: [createSlice({ phase: 'warmup', errors }), createSlice()],
})
const differing = (...differences: string[]) => ({ conformance: { differences } })
const silent = { cpuSeconds: { app: null, proxy: null, generator: null }, disturbance: SILENT }

const GATES: readonly (readonly [
  what: string,
  evidence: Partial<Evidence>,
  found: string | RegExp | null,
])[] = [
  ['a good cell', {}, null],
  ['where the system tells nothing (macOS)', { cores: null, ...measured(silent, silent) }, null],
  ['one difference', differing('a: 1, got 2'), 'it breaks the contract: a: 1, got 2'],
  ['three differences', differing('a', 'b', 'c'), 'it breaks the contract: a, and 2 more differences'],
  ['an unproven app', { conformance: null }, 'the contract was not checked'],
  ['without a contract', { conformance: null, cell: createSpec({ role: null }) }, null],
  [
    'errors, added by kind',
    measured({ errors: { reset: 1000, status: 2 } }, { errors: { reset: 3 } }),
    '1,005 of 61,003 requests failed (1,003 reset, 2 status)',
  ],
  [
    'a late response, also beside others',
    measured({ errors: { timeout: 1 }, disturbed: true }),
    /^1 of 50,001 requests failed/,
  ],
  ...['connect', 'parse', 'status', 'reset'].map(
    (kind) =>
      [`one ${kind}`, measured({}, { errors: { [kind]: 1 } }), new RegExp(`\\(1 ${kind}\\)$`)] as const,
  ),
  ['a reset, also beside others', measured({ errors: { reset: 1 }, disturbed: true }), /\(1 reset\)$/],
  ['an error of the warm-up', warmup({ status: 1 }), /^1 of 20,000 requests failed/],
  ['what ended', { failures: ['it was ended by SIGKILL'] }, 'it was ended by SIGKILL'],
  ['not asked', { slices: [] }, null],
  ['no response', { slices: [createSlice({ requests: 0, checked: 0 })] }, 'no request got a response'],
  [
    'a wrong body, also beside others',
    measured({}, { errors: { body: 1 }, disturbed: true }),
    '1 of 60,000 requests failed (1 body)',
  ],
  ['wrong bodies of the warm-up', warmup({ body: 2 }), '2 of 20,000 requests failed (2 body)'],
  ['nothing compared', { slices: [createSlice({ checked: 0 })] }, 'no response was compared'],
  ['one compared', { slices: [createSlice({ checked: 0 }), createSlice({ checked: 1 })] }, null],
  ['others alone', measured({ disturbance: { ...QUIET, serverWait: 0.5 }, disturbed: true }), null],
]
for (const [what, evidence, found] of GATES) test(`gates: ${what}`, () => says(judge(evidence), found))

test('wrong cells: what could not be run, broke the contract or responded wrongly', () => {
  const conformance = [
    { cell: 'right', differences: [] },
    { cell: 'different', differences: ['x'] },
  ]
  const slices = [createSlice({ cell: 'right' }), createSlice({ cell: 'late', errors: { timeout: 1 } })]
  const failures = [{ cell: 'ended', reason: 'it ended' }]
  const heats = [{ ...newHeat({ race: 'hello', heat: 1 }), slices, failures }]
  deepEqual([...wrongCells({ conformance, heats })], ['different', 'ended', 'late'])
})

describe('server and proxy must use their core', () => {
  const nobody = { ...QUIET, serverForeign: 0, serverWait: 0 }
  /** Seconds of 200 ms. */
  const used = (app: number | null, proxy: number | null, more: Partial<Slice> = {}): Partial<Slice> => ({
    cpuSeconds: { app, proxy, generator: 0.2 },
    disturbance: nobody,
    ...more,
  })
  const direct = (...slices: Partial<Slice>[]) => measured(...slices)
  const behind = (...slices: Partial<Slice>[]) => ({
    cell: createSpec({ topology: 'nginx' }),
    ...measured(...slices),
  })
  const uses = (...parts: number[]) => behind(...parts.map((part) => used(0.2 * part, 0)))
  const waiting = (part: keyof typeof nobody) =>
    behind(used(0.1, 0.086, { disturbance: { ...nobody, [part]: 0.04 } }))
  const [fast, blocking] = [used(0.13, 0, { requests: 30_000 }), used(0.2, 0, { requests: 20 })]
  const taken = createLaunch(used(0.02, 0, { disturbed: true }))

  const CASES: [what: string, evidence: Partial<Evidence>, found: string | RegExp | null][] = [
    ['both together', behind(used(0.1, 0.0901)), null],
    ['too little together', behind(used(0.1, 0.0899)), 'server and proxy used 95 % of their core'],
    ['a direct server without the proxy', direct(used(0.142, 0.05)), 'the server used 71 % of its core'],
    [
      'not judged by warm-up and what others took',
      behind(used(0.18, 0), used(0.2, 0, { disturbed: true }), used(0.2, 0, { phase: 'warmup' })),
      'server and proxy used 90 % of their core',
    ],
    ['excused where the generator stops at times', uses(0.5, 0.99, 0.98, 0.6, 1, 0.97, 0.98, 0.52), null],
    ['not where it waits in every slice', uses(0.9, 0.91, 0.92, 0.9, 0.93, 0.92, 0.91, 0.9), /used 92 %/],
    ['too little of what others left', behind(used(0.1, 0.086)), /used 93 % of their core$/],
    ['others ran', waiting('serverForeign'), null],
    ['it waited', waiting('serverWait'), null],
    ['the generator waited', waiting('generatorWait'), null],
    ['others took every slice', { slices: taken, counted: taken.slice(4) }, null],
    ['the host took much', { ...behind(used(0.14, 0)), stolen: 0.051 }, null],
    ['the host took little', { ...behind(used(0.14, 0)), stolen: 0.05 }, /used 70 %/],
    ['a generator that cannot load it', direct(fast, fast, fast), 'the server used 65 % of its core'],
    ['one that blocks its core', direct(blocking, blocking, blocking), null],
    ['one that need not', { cell: createSpec({ serverBound: false }), ...direct(used(0, 0)) }, null],
    ['one without a core of its own', { cores: null, ...direct(used(0.1, 0)) }, null],
    ['an unknown use', direct(used(null, 0)), null],
    ['an unknown use of the proxy', behind(used(0.1, null)), null],
  ]
  for (const [what, evidence, found] of CASES) test(what, () => says(judge(evidence), found))
})

describe('what others visibly took', () => {
  test('of a stretch of load is too much if any of the four parts passes 20 %', () => {
    deepEqual([isTaken(QUIET), isTaken(SILENT)], [false, false])
    for (const part of ['serverWait', 'generatorWait', 'serverForeign', 'generatorForeign']) {
      const is = (taken: number) => isTaken({ ...SILENT, [part]: taken })
      deepEqual([is(0.2), is(0.201)], [false, true], part)
    }
  })

  test('does not count, unless less than half would remain', () => {
    const is = (...taken: boolean[]) => isCrowded(taken.map((disturbed) => ({ disturbed })))
    deepEqual([is(false, false, true), is(false, true), is(false, true, true)], [false, false, true])
  })
})

describe('warnings that follow from a result', () => {
  const withHeats = (result: Result, change: (heat: Heat) => Partial<Heat>): Result => ({
    ...result,
    heats: result.heats.map((heat) => ({ ...heat, ...change(heat) })),
  })
  /** @param change is told how far the heat has come, 0 to 1 */
  const withSlices = (result: Result, change: (slice: Slice, part: number) => Partial<Slice>): Result =>
    withHeats(result, ({ slices }) => ({
      slices: slices.map((slice, index) => ({ ...slice, ...change(slice, index / slices.length) })),
    }))
  const clean = withSlices(rateResult(), () => ({ disturbed: false }))
  const find = (result: Result, kind: Warning['kind']) =>
    deriveWarnings(result).flatMap((one) => (one.kind === kind ? one.text : []))

  test('are none of a clean result, nor of one that has just begun', () => {
    deepEqual(deriveWarnings(clean), [])
    deepEqual(deriveWarnings({ ...clean, heats: [], analysis: null }), [])
  })

  test('tell a cost that rises in most starts, and threads that share a core', () => {
    const race = golden('commands')
    const { id = '', app = '' } = race.cells[1] ?? {}
    deepEqual([find(race, 'rising'), find(race, 'shared-core')], [[], []])
    const withThreads = (others: number) =>
      withHeats(race, ({ launches }) => ({
        launches: launches.map((one) => ({ ...one, threads: one.app === app ? 4 : others })),
      }))
    const risen = withSlices(race, ({ cell, cpuSeconds }, part) => ({
      cpuSeconds: { ...cpuSeconds, app: (cpuSeconds.app ?? 0) * (cell === id ? 1 + part : 1) },
    }))
    match(
      find(risen, 'rising').join(),
      /^A request of \w+ costs \d+ % more at the end of a start than .* \(GET /,
    )
    // Every sixth slice takes three times as long: robust figures leave that out.
    const slowed = withHeats(race, ({ slices }) => ({
      slices: slices.map((slice, index) => {
        const isRare = slice.cell === id && Math.floor(index / race.cells.length) % 6 === 5
        return { ...slice, seconds: slice.seconds * (isRare ? 3 : 1) }
      }),
    }))
    const rare = { ...slowed, analysis: analyse(race.experiment, slowed) }
    deepEqual([find(race, 'rare').length, find(rare, 'rare').length], [0, 1])
    match(find(rare, 'rare').join(), /the ratio is 0\.4\d, outside of the interval of what decides \(GET /)
    const [only = '', ...none] = find(withThreads(1), 'shared-core')
    match(only, /^4 threads of \w+ share 1 core: they wait for each other/)
    deepEqual(none, [])
    const [one = '', ...more] = find(withThreads(2), 'shared-core')
    match(one, /^Up to 4 threads of each of \w+, \w+ and [\w ]+ share 1 core: they wait/)
    deepEqual(more, [])
  })

  test('count the slices that others took, and cells of which all count for that', () => {
    const slices = clean.heats.flatMap((heat) => heat.slices.filter(({ phase }) => phase === 'measure'))
    const first = new Set(clean.heats.map((heat) => heat.slices.find(({ phase }) => phase === 'measure')))
    const told = (isTaken: (slice: Slice) => boolean) =>
      find(
        withSlices(clean, (slice) => ({ disturbed: isTaken(slice) })),
        'disturbed',
      ).join()
    const counts = `${first.size} of ${slices.length} slices. These slices do not count.`
    const some = told((slice) => first.has(slice))
    equal(some, `Other programs visibly used the cores during ${counts}`)
    const all = told(({ cell }) => cell === 'node/hello direct')
    match(all, /^In at least one launch of 1 cell others took .*all slices count\./)
  })

  test('count the open loops that others took, and the cells in which they are the most', () => {
    const told = (taken: number) => {
      const cells = ['node/hello direct', 'koa/hello direct'].flatMap((cell) => [cell, cell, cell])
      const trials = cells.map((cell, index) => trialOf({ cell, disturbed: index < taken }))
      return find(withTrials(clean, trials), 'disturbed').join()
    }
    equal(told(0), '')
    match(told(1), /during 1 of 6 open loops\. These do not count\.$/)
    match(told(3), /do not count, except in 1 cell /)
  })

  test('name a system that does not tell what others use', () => {
    const told = (serverForeign: number | null) => {
      const own = { disturbance: { ...SILENT, serverForeign } }
      const results = [withSlices(clean, () => own), withTrials(clean, [trialOf(own)])]
      return results.map((result) => find(result, 'accounting').length)
    }
    equal([told(null), told(0)].join(), '1,1,0,0')
  })
})
