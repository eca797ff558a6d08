import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStudyResult } from '../../src/experiment/result.ts'
import { analyse } from '../../src/judge/analysis.ts'
import { newHeat } from '../../src/measure/heat.ts'
import { writeStartup } from '../../src/report/choosing-a-framework.ts'
import { isProbe } from '../../src/result/experiment.ts'
import { startup } from '../../studies/startup/study.ts'

const context = {
  signal: new AbortController().signal,
  quick: true,
  heat: 1,
  onForeign() {},
  start: () => Promise.reject(new Error('It starts by itself.')),
}

test('an app starts, with a compile cache and without, and its memory is known', {
  timeout: 240_000,
}, async () => {
  const systems = Object.values(startup.races).flatMap((race) =>
    race.systems.map((system) => ({ race, system })),
  )
  for (const { race, system } of systems.slice(0, 2)) {
    assert.ok(isProbe(race))
    const figures = await race.probe(system, context)
    assert.ok((figures.startup ?? 0) > 0, system)
    if (process.platform === 'linux')
      assert.ok((figures['peak-memory'] ?? 0) >= (figures['ready-memory'] ?? 1e9), system)
  }
})

test('the page gets a row per app: both start-ups, memory and the size of the image', (t) => {
  const result = createStudyResult(startup, { profile: 'full', heats: 3, seed: 1 }, '')
  for (const heat of [1, 2, 3])
    for (const race of Object.keys(startup.races)) {
      const probes = result.cells
        .filter((cell) => cell.race === race)
        .map(({ id, system }) => ({
          cell: id,
          foreign: null,
          figures: {
            startup: (system.endsWith(' cached') ? 0.2 : 0.4) * (1 + heat / 1e3),
            'ready-memory': 60e6 + heat,
            'peak-memory': 70e6 + heat,
          },
        }))
      result.heats.push({ ...newHeat({ race, heat }), probes })
    }
  Object.assign(result, { analysis: analyse(startup, result) })
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const page = join(directory, 'page.md')
  const marks = ['<!-- startup: pnpm bench study startup --heats 10 -->', '<!-- end of startup -->']
  writeFileSync(page, `before\n${marks.join('\nold\n')}\nafter\n`)
  writeStartup(result, { page, imageBytes: (name) => (name === 'koa' ? 250e6 : undefined) })
  const text = readFileSync(page, 'utf8')
  assert.match(text, /^\| koa\/ssr +\| +401 \| +400–402 \| +200 \| +60 \| +70 \| +250 \|$/m)
  assert.match(text, /^\| bun\/hello +\| +401 \|.*\| +— \|$/m)
  assert.doesNotMatch(text, /old|cached/)
})
