import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { StudyAnalysis } from '../../src/model/study-result.ts'
import { formatOverhead, writeOverhead } from '../../src/report/overhead.ts'
import { overheadOf } from '../../studies/overhead/study.ts'
import { within } from '../fixtures/small-race.ts'

const MICROSECONDS: Readonly<Record<string, number>> = {
  bare: 10,
  headers: 15,
  app: 16,
  logged: 20,
  direct: 16,
  ours: 40,
  'bare-naive': 60,
  'ours-naive': 80,
}

/** As if every way in these races cost what it does above, but for those that were not measured. */
function analysisOf(races: readonly string[], isMeasured = (_way: string) => true): StudyAnalysis {
  const { systems, steps = [] } = overheadOf(races)
  const split = (system: string) => system.split(' ') as [race: string, way: string]
  const micros = (system: string) => MICROSECONDS[split(system)[1]] ?? Number.NaN
  const cells = Object.keys(systems).filter((system) => isMeasured(split(system)[1]))
  return {
    cells: cells.map((system) => ({
      ...{ race: split(system)[0], system, launches: 3, openLoop: null, coreUse: 1 },
      ...{ upstreamConnections: null, workerShares: null, gates: [], voided: false },
      figures: { cpu: within(micros(system) / 1e6) },
      cpu: { app: 1e-5, proxy: 2e-5 },
    })),
    ...{ openRates: [], claims: [], scaling: [] },
    steps: steps.map((step) => {
      const isKnown = cells.includes(step.from) && cells.includes(step.to)
      return { ...step, cpu: null, ratio: isKnown ? within(micros(step.to) / micros(step.from)) : null }
    }),
  }
}

const BOTH = analysisOf(['node', 'nginx'])

test('a table of frameworks and one of NGINX', () => {
  const text = formatOverhead(BOTH, 200)
  assert.match(text, /^node .*10\.0 .*15\.0 .*16\.0 .*0\.63 .*0\.94 \(0\.90–0\.98\) .*20\.0 .*0\.75 \(/m)
  assert.match(text, /^a connection per request .*60\.0 .*80\.0 .*0\.75 \(.*20 %/m)
})

test('what was not measured has a dash', () => {
  assert.match(
    formatOverhead(
      analysisOf(['bun'], (way) => way === 'bare' || way === 'app'),
      200,
    ),
    /^bun .*10\.0 .*— .*16\.0/m,
  )
})

test('a page gets the tables between its marks, and one without marks is refused', () => {
  const page = join(mkdtempSync(join(tmpdir(), 'startgrid-')), 'page.md')
  writeFileSync(
    page,
    'before\n<!-- overhead: pnpm bench overhead --docs -->\nold\n<!-- end of overhead -->\nafter\n',
  )
  writeOverhead(page, BOTH, 'Measured today.')
  const text = readFileSync(page, 'utf8')
  assert.match(
    text,
    /^before\n<!-- overhead: .*-->\n\n\| .*bare[\s\S]*Measured today\.\n\n<!-- end of overhead -->\nafter\n$/,
  )
  assert.doesNotMatch(text, /old/)
  writeFileSync(page, 'nothing')
  assert.throws(() => writeOverhead(page, BOTH, ''), /has no place for its figures/)
})
