import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createStudyResult } from '../../src/experiment/result.ts'
import { writeOverhead } from '../../src/report/overhead.ts'
import type { Result } from '../../src/result/result.ts'
import { overhead } from '../../studies/overhead/study.ts'
import { within } from '../fixtures/small-race.ts'

const MICROSECONDS: Readonly<Record<string, number>> = {
  bare: 10,
  app: 16,
  logged: 20,
  usual: 30,
  direct: 16,
  ours: 40,
  'bare-naive': 60,
  'ours-naive': 80,
}

/** As if every way in these races cost what it does above. */
function resultOf(races: readonly string[]): Result {
  const micros = (system: string) => MICROSECONDS[system.split(' ').at(-1) ?? ''] ?? Number.NaN
  const isMeasured = ({ race }: { race: string }) => races.includes(race)
  const plan = { profile: 'full', heats: 3, seed: 1 } as const
  const result = createStudyResult(overhead, plan, '')
  return {
    ...result,
    analysis: {
      cells: result.cells.filter(isMeasured).map(({ id, race, app: system }) => ({
        ...{ cell: id, race, system, launches: 3, slices: 60, disturbed: 0, openLoop: null, coreUse: 1 },
        ...{
          peakMemory: { app: null, proxy: null },
          upstreamConnections: null,
          void: null,
        },
        figures: { cpu: within(micros(system) / 1e6) },
        cpu: { app: 1e-5, proxy: 2e-5, generator: null },
      })),
      ...{ findings: [], races: [], proxyCosts: [], openRates: [], claims: [] },
      steps: (overhead.steps ?? []).map((step) => ({
        ...step,
        cpu: null,
        ratio: isMeasured(step) ? within(micros(step.to) / micros(step.from)) : null,
      })),
    },
  }
}

const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
after(() => rmSync(directory, { recursive: true }))
const PAGE = join(directory, 'page.md')

/** @returns what the page has afterwards */
function write(result: Result): string {
  const marks = ['<!-- overhead: pnpm bench study overhead -->', '<!-- end of overhead -->']
  writeFileSync(PAGE, `before\n${marks.join('\nold\n')}\nafter\n`)
  writeOverhead(result, PAGE)
  return readFileSync(PAGE, 'utf8')
}

test('the page gets tables of hello, of pages and of NGINX between its marks', () => {
  const text = write(resultOf(['node', 'node page', 'nginx']))
  assert.match(
    text,
    /^\| node .*10\.0 .*16\.0 .*0\.63 .*20\.0 .*0\.50 \(0\.\d\d–0\.\d\d\) .*30\.0 .*1\.50 \(/m,
  )
  assert.match(text, /^\| node page .*10\.0 .*20\.0 .*0\.50 \(/m)
  assert.match(text, /^\| a connection per request .*60\.0 .*80\.0 .*0\.75 \(.*20 %/m)
  assert.match(text, /^before\n<!-- overhead: .*-->\n\n\|/)
  assert.match(text, /3 launches of .*\n\n<!-- end of overhead -->\nafter\n$/)
  assert.doesNotMatch(text, /old/)
})

test('a page without marks, and a run that skipped a system, are refused', () => {
  const result = resultOf(['node'])
  const [first] = result.cells
  assert.ok(first)
  assert.throws(
    () => write({ ...result, cells: [{ ...first, skipped: 'there is no Bun' }] }),
    /there is no Bun/,
  )
  writeFileSync(PAGE, 'nothing')
  assert.throws(() => writeOverhead(result, PAGE), /has no place for its figures/)
})
