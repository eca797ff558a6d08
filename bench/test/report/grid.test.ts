import assert from 'node:assert/strict'
import { test } from 'node:test'
import { analyse } from '../../src/judge/analysis.ts'
import { findingOf, summarise } from '../../src/report/grid.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal, terminalStyle } from '../../src/report/terminal.ts'
import type { Result } from '../../src/result/result.ts'
import { golden, rankedOf } from '../fixtures/golden.ts'
import { rateResult, smallRace, within, withRaces } from '../fixtures/results.ts'

/** What a race of the grid says in other cases than the stored one, which is not interrupted and shows little. */

function tablesOf(result: Result, columns = 80, color = false): string {
  return formatTerminal(documentOf(result), { columns, color })
}

test('the whole grid is two screens, with a row for every cell that was tried', () => {
  const result = rateResult()
  const text = tablesOf(result)
  assert.ok(text.split('\n').length <= 125)
  const tried = result.cells.filter(({ skipped, twinOf }) => skipped === null && twinOf === null)
  const rows = text.match(/^(node|fastify|express|koa|hono|h3|bun|njs \(\w+\)) +(\d\S* .*|void)$/gm)
  assert.equal(rows?.length, tried.length)
  assert.match(text.replace(/\s+/g, ' '), /Not tried: njs\/ssr nginx \(NGINX in front of njs/)
})

test('where the system tells nothing of CPU and memory (macOS), their columns are left out', () => {
  const result = golden('race')
  const heats = result.heats.map((heat) => ({
    ...heat,
    launches: heat.launches.map(({ app }) => ({ app, peakMemory: null })),
    slices: heat.slices.map((slice) => ({
      ...slice,
      cpuSeconds: { app: null, proxy: null, generator: null },
    })),
  }))
  const text = tablesOf({ ...result, heats, analysis: analyse(rankedOf(result), { ...result, heats }) }, 200)
  assert.doesNotMatch(text, /CPU µs|CPU ×|MB peak|generator µs|core {2}|—/)
})

test('an interrupted run says so first, and leaves out what it has not begun', () => {
  const whole = golden('race')
  const heats = whole.heats.filter(({ race }) => race === 'ssr')
  const stopped = { ...whole, finishedAt: null, heats }
  const result = { ...stopped, analysis: analyse(rankedOf(stopped), stopped) }
  const [first] = documentOf(result).warnings
  assert.equal(first, 'Interrupted: not everything that was planned was measured.')
  assert.deepEqual(tablesOf(result).match(/^\w+ direct: /gm), ['ssr direct: '])
})

test('what is best is bold, and what is void is red and has its reason below the table', () => {
  const lines = tablesOf(smallRace(), 80, true).split('\n')
  const lineOf = (word: string) => lines.find((line) => line.includes(word)) ?? ''
  assert.ok(lineOf('koa ').startsWith('\u001b[31m'))
  assert.ok(lineOf('33,775').startsWith('\u001b[1m'))
  const text = formatMarkdown(documentOf(smallRace()))
  assert.match(text, /^\| ~~koa~~ +\| +\| +\| +\| +void \| +\|/m)
  assert.match(text, /^- Void: koa \(48 of [\d,]+ requests failed \(48 timeout\)\)\.$/m)
})

test('a terminal has its own width, within reason, and colours if it can; a file has 80 columns and none', () => {
  const styleOf = (more: object) =>
    terminalStyle({ isTTY: true, columns: 132, hasColors: () => true, ...more } as NodeJS.WriteStream)
  assert.deepEqual(
    [{}, { columns: 20 }, { columns: 400 }, { isTTY: false }, { hasColors: () => false }].map(styleOf),
    [
      { columns: 132, color: true },
      { columns: 60, color: true },
      { columns: 200, color: true },
      { columns: 80, color: false },
      { columns: 132, color: false },
    ],
  )
})

/** All sentences. */
function toldBy(result: Result): string {
  const { finding, summary = [], sections } = documentOf(result)
  const told = sections.flatMap(({ title, notes }) => [title, ...notes])
  return [`${finding}.`, ...summary, ...told].join('\n')
}

/** The rows of the table of A/A controls. */
function controlsOf(result: Result): (readonly string[])[] {
  const section = documentOf(result).sections.find(({ title }) => title.startsWith('A/A control'))
  return section?.table?.rows.map(({ cells }) => cells) ?? []
}

test('a race is summarised: control, reach', () => {
  assert.deepEqual(summarise(smallRace()), [
    'The same app under two names differed by at most 2.2 %, no more than chance explains.',
    'With all pairs tested, a difference of 14 % (hello nginx) would be found in 4 of 5 runs.',
  ])
})

/** With koa, whose place is anything. */
function withUnplaced(wide: { value: number; low: number; high: number }) {
  return withRaces(smallRace(), (race) => ({
    ranks: [...race.ranks, { cell: 'koa/hello nginx', from: 1, to: 4 }],
    pairs: [
      ...race.pairs,
      ...race.ranks.map(({ cell }) => ({
        a: 'koa/hello nginx',
        b: cell,
        ratio: wide,
        p: 0.06,
        pAdjusted: 0.3,
      })),
    ],
  }))
}

test('an app with an odd launch does not lead, nor one that ties with the first behind one that does not', () => {
  const odd = toldBy(withUnplaced({ value: 0.52, low: 0.26, high: 1.05 }))
  assert.match(
    odd,
    /^hello nginx: bun leads; .*\n(?:.*\n)*koa could not be placed: its launches differ too much\.$/m,
  )
  // h3, which is faster than both, was told from the first.
  const told = toldBy(rateResult())
  assert.match(
    told,
    /^ssr direct: node, fastify and bun lead; .*\nexpress could not be placed: .*\nkoa could not /m,
  )
})

test('the headline: who leads a role, which apps are as good as equal, or that nothing was shown', () => {
  const alike = withRaces(smallRace(), ({ pairs }) => ({
    pairs: pairs.map((pair) => ({ ...pair, ratio: within(1.1) })),
  }))
  const open = withRaces(smallRace(), ({ ranks }) => ({
    ranks: ranks.map((rank) => ({ ...rank, from: 1, to: 3 })),
  }))
  const tied = withRaces(smallRace(), ({ ranks }) => ({
    ranks: ranks.map((rank, index) => (index < 2 ? { ...rank, from: 1, to: 2 } : { ...rank, from: 3 })),
  }))
  assert.deepEqual([smallRace(), alike, open, tied].map(findingOf), [
    'Bun leads hello',
    'All 3 are within a factor of 1.15 in hello',
    'No difference was shown in hello',
    'Bun and fastify lead hello',
  ])
})

test('one launch ranks nothing, and nothing is said of its control', () => {
  const once = withRaces(smallRace(), ({ pairs, control, ratios }) => ({
    ratios: ratios.map(({ cell, ratio: { value } }) => ({ cell, ratio: { value, low: null, high: null } })),
    pairs: pairs.map((pair) => ({ ...pair, p: null, pAdjusted: null })),
    control: control && { ...control, p: null, ratio: { value: 1.058, low: null, high: null } },
    smallestEffect: null,
  }))
  assert.doesNotMatch(summarise(once).join(), /under two names/)
  assert.equal(findingOf(once), 'One launch of each app ranks nothing in hello')
})

test('a suspect control is said in the summary and in its race; one within chance is not called equal', () => {
  const suspect = withRaces(smallRace(), ({ metric, control }) => ({
    control: control && { ...control, ratio: within(0.86), p: 0.0004, suspect: metric === 'rate' },
  }))
  assert.match(
    toldBy(suspect),
    /The same app under two names differed in hello nginx \(req\/s, by 14 %\): rely on /,
  )
  assert.doesNotMatch(summarise(suspect).join(), /no more than chance/)
  assert.deepEqual(controlsOf(suspect)[0]?.slice(2, 6), [
    ...['0.860', '0.826–0.894', '< 0.001', 'suspect: a difference where none exists'],
  ])
  const rare = withRaces(smallRace(), ({ control }) => ({ control: control && { ...control, p: 0.03 } }))
  assert.equal(controlsOf(rare)[0]?.[5], 'barely excludes 1, as about 1 in 20 does')
})

test('a run that was too short for its machine gives factors, and no percentage beyond reason', () => {
  const noisy = withRaces(smallRace(), () => ({ smallestEffect: { single: 12.45, adjusted: 400 } }))
  assert.match(toldBy(noisy), /a difference of a factor of 400\.00 \(hello nginx\) would be found/)
})
