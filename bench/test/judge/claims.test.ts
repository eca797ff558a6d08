import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { fitToMachine, planCells } from '../../src/experiment/cells.ts'
import { analyse as analyseStudy } from '../../src/judge/analysis.ts'
import { unsteadyOf } from '../../src/judge/findings.ts'
import { newHeat } from '../../src/measure/heat.ts'
import type { LoadRace, Study, System } from '../../src/result/experiment.ts'
import { measureOnPaper, PAPER, type Rates } from '../fixtures/laboratory.ts'

const RATES: Rates = {
  fast: [40_000, 41_000, 39_500],
  slow: [20_100, 20_400, 19_800],
  wide: [40_000, 41_200, 39_000],
}

function analyse(rates: Rates, change: (result: ReturnType<typeof measureOnPaper>) => void = () => {}) {
  const result = measureOnPaper(rates)
  change(result)
  const analysis = analyseStudy(PAPER, result)
  const [twice, wide] = analysis.claims
  if (twice === undefined || wide === undefined) throw new Error('There are two claims.')
  return { result: { ...result, analysis }, analysis, twice, wide }
}

test('a ratio of launches, its interval and its verdict', () => {
  const { twice, analysis } = analyse(RATES)
  ok(Math.abs((twice.ratio?.value ?? 0) - 2) < 0.02, String(twice.ratio?.value))
  equal(twice.verdict, 'holds')
  equal(twice.undecided, null)
  match(twice.because ?? '', /^Fast gives 40,?\d{3} per second\.$/)
  const fast = analysis.cells.find(({ system }) => system === 'fast')
  ok(Math.abs((fast?.figures.cpu?.value ?? 0) * 40_160 - 1) < 0.01, 'all of a core by the rate')
  equal(fast?.coreUse, 1)
})

test('a system that was not steady when the pilot ended is named where it is compared', () => {
  const systems = ['slow', 'fast', 'wide'].map((system) => ({
    ...{ system, bytes: 12, masked: 0, coreUse: 1 },
    steady: system !== 'fast',
  }))
  const pilots = [{ race: 'race', decides: 'rate' as const, warmupMs: 500, systems, difference: null }]
  deepEqual(unsteadyOf({ race: 'race', over: 'fast', under: 'slow' }, pilots), ['fast'])
  deepEqual(unsteadyOf({ race: 'race', over: 'wide', under: 'slow' }, pilots), [])
  deepEqual(unsteadyOf({ race: 'other', over: 'fast', under: 'slow' }, pilots), [])
})

test('requests per second decide a race of commands, and CPU per request if others took much of the core', () => {
  const decidedWith = (foreign: number | null, decides: 'rate' | 'cpu' = 'rate') => {
    const { analysis } = analyse(RATES, (one) => {
      for (const slice of one.heats.flatMap(({ slices }) => slices))
        slice.disturbance = { ...slice.disturbance, serverForeign: foreign }
      const systems = ['slow', 'fast'].map((system) => ({
        system,
        bytes: 12,
        masked: 0,
        steady: true,
        coreUse: 1,
      }))
      const race = one.cells[0]?.race ?? ''
      one.pilots = [{ race, decides, warmupMs: 500, systems, difference: null }]
    })
    deepEqual(analysis.findings?.[0]?.pAdjusted, null, 'three starts give no verdict')
    return analysis.findings?.map((finding) => [finding.decides, finding.others[0]?.metric])
  }
  deepEqual(decidedWith(0.11), [['rate', 'cpu']])
  deepEqual(decidedWith(0.13), [['cpu', 'rate']])
  deepEqual(decidedWith(null), [['rate', 'cpu']], 'where nobody can know')
  deepEqual(decidedWith(0.1, 'cpu'), [['cpu', 'rate']], 'as the pilot found')
})

test('heats whose number follows from the spread of the first ones are judged by that spread', () => {
  const more = {
    fast: [...(RATES.fast ?? []), 30_000, 50_000, 40_000],
    slow: [...(RATES.slow ?? []), 24_000, 16_000, 20_000],
  }
  const widthOf = (rates: Rates, precision?: number) => {
    const { twice } = analyse(rates, (result) => {
      result.settings.heats = 3
      if (precision !== undefined) result.settings.precision = precision
    })
    return Math.log((twice.ratio?.high ?? 0) / (twice.ratio?.low ?? 0))
  }
  const first = widthOf({ fast: RATES.fast ?? [], slow: RATES.slow ?? [] }, 0.01)
  ok(Math.abs(widthOf(more, 0.01) / first - Math.sqrt(3 / 6)) < 1e-9)
  ok(widthOf(more) > 2 * first, 'heats that were planned count by their own')
})

test('what needs more cores than there are is measured, and decides nothing', () => {
  const { wide } = analyse(RATES)
  ok(Math.abs((wide.ratio?.value ?? 0) - 1) < 0.02)
  equal(wide.verdict, 'undecided here')
  equal(wide.undecided, 'wide needs 4 cores and one for the generator, and this machine has 1 for it')
})

test('one core too few decides nothing', () => {
  const { wide } = analyse(RATES, ({ cells }) => {
    for (const cell of cells) cell.cores.given = Math.min(3, cell.cores.wanted)
  })
  match(wide.undecided ?? '', /^wide needs 4 cores .* has 3 for it$/)
})

test('that the machine is too small is said before what a better moment would mend', () => {
  const { wide } = analyse(RATES, ({ heats }) => {
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell === 'race wide') slice.errors = { reset: 1 }
  })
  equal(wide.ratio, null)
  match(wide.undecided ?? '', /^wide needs 4 cores /)
})

test('with enough cores it decides', () => {
  const { wide } = analyse({ ...RATES, wide: [150_000, 155_000, 158_000] }, ({ cells, heats }) => {
    for (const cell of cells) cell.cores.given = cell.cores.wanted
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell === 'race wide') slice.cpuSeconds = { app: 4 * slice.seconds, proxy: 0, generator: 1 }
  })
  equal(wide.verdict, 'holds')
})

test('a machine gives what it has; processes that share a core become warm in turn', () => {
  const { cells } = measureOnPaper(RATES)
  const before = cells.map(({ warmupMs }) => warmupMs)
  fitToMachine(cells, 2)
  deepEqual(
    cells.map(({ cores }) => [cores.wanted, cores.given]),
    [
      [1, 1],
      [1, 1],
      [4, 2],
    ],
  )
  deepEqual(
    cells.map(({ warmupMs }, index) => warmupMs / (before[index] ?? 1)),
    [1, 1, 2],
  )
})

test('a system is warmed for as long as it says itself, else as its race does, else as its framework needs', () => {
  const { fast = { title: 'none' } } = PAPER.systems
  const plan = (own: Partial<System>, race: Partial<LoadRace>) => {
    const { systems, ...load } = PAPER.races.race as LoadRace
    const study: Study = {
      ...PAPER,
      systems: { ...PAPER.systems, fast: { ...fast, ...own } },
      races: { race: { systems, ...load, ...race } },
    }
    return planCells(study)[0]?.warmupMs
  }
  deepEqual(
    [plan({}, {}), plan({}, { warmupMs: 2500 }), plan({ warmupMs: 4000 }, { warmupMs: 2500 })],
    [1000, 2500, 4000],
  )
})

test('a failed gate voids the system and every claim about it, with the finding', () => {
  const { twice, analysis } = analyse(RATES, ({ heats }) => {
    const slice = heats[1]?.slices.find(({ cell }) => cell === 'race slow')
    if (slice) slice.errors = { reset: 3 }
  })
  equal(twice.verdict, 'undecided here')
  match(twice.undecided ?? '', /^slow is void: 3 requests failed/)
  equal(twice.ratio, null)
  deepEqual(analysis.cells.find(({ system }) => system === 'slow')?.figures, {})
  equal(analysis.steps[0]?.cpu, null)
})

test('a system that cannot keep the contract is void', () => {
  const { twice } = analyse(RATES, (result) => {
    for (const record of result.conformance)
      if (record.cell === 'race fast') record.differences = ['HEAD: expected 200, got 405']
  })
  equal(twice.undecided, 'fast is void: it breaks the contract: HEAD: expected 200, got 405')
})

test('one launch gives no interval; what was skipped gives no ratio', () => {
  equal(analyse({ fast: [2], slow: [1], wide: [1] }).twice.undecided, 'one launch gives no interval')
  const { twice } = analyse(RATES, ({ cells }) => {
    for (const cell of cells) if (cell.app === 'slow') cell.skipped = 'there is no NGINX'
  })
  equal(twice.undecided, 'slow was not measured: there is no NGINX')
})

test('a probe and a load may be compared: two means, each with its own spread', () => {
  const study: Study = {
    ...PAPER,
    races: {
      ...PAPER.races,
      tool: { systems: ['fast'], tool: 'wrk URL', expectedMs: 1, probe: async () => ({}) },
    },
    claims: [
      {
        id: 'limit',
        says: 'wrk was the limit',
        race: 'race',
        against: 'tool',
        metric: 'rate',
        over: 'fast',
        under: 'fast',
        published: [2, 1],
      },
    ],
  }
  const result = measureOnPaper(RATES, study)
  const probed = (rates: readonly number[]) => {
    const own = result.heats.filter(({ race }) => race !== 'tool')
    const heats = rates.map((rate, index) => ({
      ...newHeat({ race: 'tool', heat: index + 1 }),
      probes: [{ cell: 'tool fast', figures: { rate }, foreign: null }],
    }))
    return analyseStudy(study, { ...result, heats: [...own, ...heats] }).claims[0]
  }
  const [known] = analyseStudy(study, result).cells.filter(({ race }) => race === 'race')
  const rate = known?.figures.rate?.value ?? 0
  const claim = probed([0.49, 0.5, 0.51].map((part) => part * rate))
  ok(Math.abs((claim?.ratio?.value ?? 0) - 2) < 0.02, String(claim?.ratio?.value))
  equal(claim?.verdict, 'holds')
  const { low, high } = probed([0.25, 0.5, 1].map((part) => part * rate))?.ratio ?? {}
  ok((low ?? 1) < 0.8 && (high ?? 1) > 5, 'a tool that varies makes the interval wide')
  equal(probed([rate])?.undecided, 'one launch gives no interval')
})

test('a step costs the difference in CPU per request', () => {
  const [step] = analyse(RATES).analysis.steps
  ok(Math.abs(((step?.cpu?.to ?? 0) - (step?.cpu?.from ?? 0)) * 1e6 - 25) < 0.5)
  ok(Math.abs((step?.ratio?.value ?? 0) - 2) < 0.02)
})
