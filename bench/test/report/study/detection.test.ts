import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { analyseStudy } from '../../../src/judge/study/analysis.ts'
import { newHeat } from '../../../src/measure/heat.ts'
import type { Study } from '../../../src/model/experiment.ts'
import type { StudyResult } from '../../../src/model/result.ts'
import { machineFolder, readResult, recordOf, validateResult } from '../../../src/model/result-file.ts'
import { formatHtml } from '../../../src/report/html/page.ts'
import { formatMarkdown } from '../../../src/report/markdown.ts'
import { storeRecord } from '../../../src/report/study/docs.ts'
import { documentOfStudy } from '../../../src/report/study/document.ts'
import { formatTerminal } from '../../../src/report/terminal.ts'
import { measureOnPaper, PAPER } from '../../fixtures/study-laboratory.ts'

/** Two tools, one of which is off by 5 % and the other one by 1 %; slow costs twice as much as fast. */
const TOOLS: Readonly<Record<string, number>> = { coarse: 0.05, fine: 0.01 }

const STUDY: Study = {
  ...PAPER,
  systems: { ...PAPER.systems, coarse: { title: 'a coarse tool' }, fine: { title: 'a fine tool' } },
  races: {
    ...PAPER.races,
    tools: { systems: Object.keys(TOOLS), probe: async () => ({}), expectedMs: 1 },
  },
  detection: { races: ['tools'], planted: { race: 'race', over: 'slow', under: 'fast', work: 100 } },
}

function measured(day: number): StudyResult {
  const result = measureOnPaper({ fast: [40_000, 40_000], slow: [20_000, 20_000], wide: [1, 1] }, STUDY)
  for (const heat of [1, 2, 3, 4, 5, 6]) {
    const planted = heat % 2 === 0 ? 0 : 10
    const probes = Object.entries(TOOLS).map(([tool, error]) => {
      const estimate = (1 + planted / 100) * (heat % 4 < 2 ? 1 + error : 1 - error)
      const [low, high] = [estimate * 0.98, estimate * 1.02]
      const rules = [{ rule: 'a star', shown: low > 1 || high < 1, low, high }]
      const detected = { planted, seconds: 20, estimate, rules }
      return { cell: `tools ${tool}`, figures: {}, foreign: null, detected }
    })
    const startedAt = `2026-11-${day}T10:0${heat}:00.000Z`
    result.heats.push({ ...newHeat({ race: 'tools', heat }), startedAt, probes })
  }
  result.finishedAt = '2026-11-21T10:10:00.000Z'
  return { ...result, analysis: analyseStudy(STUDY, result) }
}

test('a report of tools: what each finds, what it could find, and every case in which another was better', () => {
  const record = recordOf(measured(21))
  deepEqual(validateResult(JSON.parse(JSON.stringify(record))), [])
  const document = documentOfStudy(STUDY, record)
  match(document.finding, /^Another tool was better than a coarse tool in 2 cases$/)
  const text = formatMarkdown(document)
  match(text, /^- Tools, in 20 s, .* a slowdown of: a fine tool 3\.\d % and a coarse tool 1\d %\.$/m)
  match(text, /^- Better than a coarse tool: tools, a fine tool: 3\.\d % instead of 1\d % in 4 of 5\.$/m)
  // 10 of 100 rounds more, of which 100 cost as much as a request.
  match(text, /\| tool +\| says so by \| +0\.0 % \| +10 % \| +wrong \|/)
  match(text, /\| a fine tool +\| a star +\| +0 of 3 \| +3 of 3 \| +0 of 6 \(0–46 %\) \|/)
  match(text, /6 comparisons? at |12 comparisons at /)
  doesNotMatch(text, /^### tools$/m, 'tools have no figures of their own')
  for (const output of [text, formatHtml(document).replace(/<script>.*/s, '')])
    doesNotMatch(output, /undefined|NaN|Infinity/)
  for (const columns of [60, 80])
    for (const line of formatTerminal(document, { columns, color: false }).split('\n'))
      ok(line.length <= columns, line)
  equal(document.chart?.kind, 'dots')
})

test('what tools detected adds up over the runs on a machine, each heat once', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-docs-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const record = recordOf(measured(21))
  const counts = [21, 21, 22].map((day) => {
    storeRecord(recordOf(measured(day)), directory)
    const stored = readResult(join(directory, 'results', machineFolder(record), 'paper.json'))
    return stored.kind === 'study' && stored.analysis?.detections?.length
  })
  deepEqual(counts, [12, 12, 24])
})

test('nothing is said of tools before it is known what was planted', () => {
  const result = measured(21)
  result.heats = result.heats.filter(({ race }) => race === 'tools')
  const record = recordOf({ ...result, analysis: analyseStudy(STUDY, result) })
  deepEqual(record.analysis?.detections, [])
  doesNotMatch(formatMarkdown(documentOfStudy(STUDY, record)), /NaN|undefined/)
})
