import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRate } from '@startgrid/cli/numbers.ts'
import { sample } from '@startgrid/cli/test-run.ts'
import { standingsOf } from '../../../src/judge/standings.ts'
import type { Result } from '../../../src/model/result.ts'
import { summarise } from '../../../src/report/summary.ts'
import { emptyResults } from '../../fixtures/empty-results.ts'
import { fullResult } from '../../fixtures/full-result.ts'
import { all, type Element, pageOf, textOf } from '../../fixtures/page.ts'
import * as fixtures from '../../fixtures/results.ts'
import { smallRace, withFigures } from '../../fixtures/small-race.ts'

const { rateResult, suspectResult, interruptedResult, contendedResult } = fixtures
const { latencyResult, capacityResult, overloadResult } = fixtures

/** A short run makes a third of the pages. */
const KINDS = Object.entries<() => Result>(fixtures)
const EXTREMES = [fullResult(), ...emptyResults()].map((result, index): [string, () => Result] => [
  `extreme ${index}`,
  () => result,
])
const REPORTS = [...KINDS, ...EXTREMES]

describe('every report', () => {
  for (const [name, make] of sample('pages', REPORTS, Math.ceil(REPORTS.length / 3))) {
    const result = make()
    const page = pageOf(result)

    test(`${name}: is whole, and has no NaN`, () => {
      for (const id of ['summary', 'provenance', 'guide']) assert.ok(page.querySelector(`#${id}`), id)
      assert.doesNotMatch(
        page.querySelector('body')?.innerHTML.replace(/<script>.*/s, '') ?? '',
        /NaN|undefined|Infinity|\[object/,
      )
    })

    test(`${name}: ids are unique, and every link within it has its end`, () => {
      const ids = all(page, '[id]').map((element) => element.getAttribute('id'))
      assert.equal(new Set(ids).size, ids.length)
      for (const link of all(page, 'a[href^="#"]'))
        assert.ok(ids.includes(link.getAttribute('href')?.slice(1) ?? ''))
    })

    test(`${name}: every chart has a name with figures`, () => {
      for (const figure of all(page, 'figure')) {
        const image = figure.querySelector('svg')
        assert.equal(image?.getAttribute('role'), 'img')
        assert.match(image?.getAttribute('aria-label') ?? '', /\. .*\d|Void/)
      }
    })

    test(`${name}: begins with what it says, and ends with what repeats it`, () => {
      const sentences = all(page, '#summary li').map(({ textContent }) => textContent)
      assert.deepEqual(
        sentences.slice(0, summarise(result).length),
        summarise(result).map((one) => one.replaceAll('`', '')),
      )
      assert.equal(page.querySelector('#provenance pre')?.textContent, result.command)
    })
  }
})

describe('a race', () => {
  const result = rateResult()
  const page = pageOf(result)

  test('has a row for every cell that was tried, best first, with rank, rate and interval', () => {
    for (const { role, topology, entries } of standingsOf(result)) {
      const rows = all(page, `#race-${role}-${topology} tbody tr`)
      assert.deepEqual(
        rows.map((row) => row.querySelector('th')?.textContent.split(' ')[0]),
        entries.map(({ spec }) => spec.framework),
      )
      for (const [index, { figures, places }] of entries.entries()) {
        const text = rows[index]?.textContent ?? ''
        if (figures.rate === null) {
          assert.match(text, /^void/)
          continue
        }
        assert.ok(text.startsWith(String(places.rate?.from)), text)
        assert.ok(text.includes(formatRate(figures.rate.value)), text)
        assert.equal(all(rows[index] as Element, '.whisker').length, 2)
      }
    }
  })

  test('says of a void cell which gate failed, what it found and what to do, instead of a number', () => {
    const row = all(page, '#race-status-nginx tr.void')[0]
    const gate = result.analysis?.cells
      .find(({ cell }) => cell === 'koa/status nginx')
      ?.gates.find(({ verdict }) => verdict === 'failed')
    assert.equal(row?.querySelector('s')?.textContent, 'koa')
    assert.ok(
      row?.textContent.includes(`server-bound ✗ ${gate?.finding}. ${gate?.advice?.replaceAll('`', '')}`),
      row?.textContent,
    )
    assert.deepEqual(all(row as Element, '[data-value], .whisker'), [])
  })

  test('says why a cell was not tried', () => {
    assert.match(textOf(page, '#gates'), /Not tried: njs\/ssr nginx/)
    assert.doesNotMatch(textOf(page, '#gates tbody tr'), /ssr njs \(qjs\)\s*nginx/)
  })

  test('tells failed gates in full, and has all gates of all cells behind a line', () => {
    assert.match(textOf(page, '#gates'), /^Gates\s*No gate failed in 45 of 47 cells\./)
    assert.equal(all(page, '#gates > .tall tbody tr').length, 2)
    const [table] = all(page, '#gates details .tall')
    const rows = all(table as Element, 'tbody tr')
    assert.equal(rows.length, result.cells.filter(({ skipped }) => skipped === null).length)
    const failed = rows.filter((row) => row.querySelector('td.failed'))
    assert.deepEqual(
      failed.map((row) => row.textContent.split('✓')[0]),
      ['ssr honodirect', 'status koanginx'],
      'a cell of which others disturbed every slice keeps its number',
    )
  })

  test('compares all pairs: who beats whom is the same from both sides', () => {
    const rows = all(page, '#pairs .matrix')[0]?.querySelectorAll('tbody tr') ?? []
    const signs = [...rows].map((row) => all(row, 'td').map((cell) => cell.textContent.trim().at(0) ?? ''))
    const mirrored: Record<string, string> = { '▲': '▼', '▼': '▲', '=': '=', '': '' }
    for (const [i, row] of signs.entries())
      for (const [j, sign] of row.entries()) assert.equal(sign, mirrored[signs[j]?.[i] ?? ''])
    assert.equal(signs.flat().filter((sign) => sign !== '').length, 7 * 6)
    assert.deepEqual(signs[0], ['', '▲', '▲', '▲', '▲', '▲', '▲'], 'the first beats all')
  })

  test('draws a framework in one colour everywhere', () => {
    const colors = all(
      page,
      '[data-framework="bun"] [stroke^="var(--series"], [data-framework="bun"][stroke^="var(--series"]',
    )
    assert.ok(colors.length > 10)
    assert.deepEqual(
      new Set(colors.map((element) => element.getAttribute('stroke'))),
      new Set(['var(--series-5)']),
    )
  })

  test('marks the A/A control that found a difference where there is none', () => {
    assert.match(textOf(pageOf(suspectResult()), '#control tr.void'), /hello direct.*suspect/)
    assert.deepEqual(all(page, '#control tr.void'), [])
  })

  test('is ranked by rate, also where others disturbed it', () => {
    assert.match(textOf(pageOf(contendedResult()), '#race-hello-direct h3'), /ranked by req\/s/)
  })

  test('that was interrupted says so', () => {
    assert.match(textOf(pageOf(interruptedResult()), 'header'), /Interrupted/)
    assert.doesNotMatch(textOf(page, 'header'), /Interrupted/)
  })

  test('shows a kept number of a void cell struck and marked', () => {
    const kept = withFigures(smallRace(), ({ voided }) =>
      voided ? { rate: { value: 19_000, low: null, high: null } } : {},
    )
    const row = all(pageOf(kept), '#races tr.void')[0]
    assert.match(row?.textContent.replace(/\s+/g, ' ') ?? '', /^void.*19,000.*✗/)
  })
})

describe('a server that already ran', () => {
  const page = pageOf(fixtures.targetResult())

  test('has its mode in the title, its row and its slices, and nothing to compare or to filter', () => {
    assert.match(textOf(page, 'h1'), /^Rate of http:\/\/10\.0\.0\.9:3000, which already ran, /)
    assert.deepEqual(
      all(page, 'main > section').map((section) => section.getAttribute('id')),
      ['summary', 'warnings', 'figures', 'gates', 'provenance', 'guide'],
    )
    assert.equal(page.querySelector('#filter'), null)
    assert.match(textOf(page, '#figures tbody tr'), /^http:\/\/10\.0\.0\.9:3000 ?56,758 ?55\.8–57\.8k/)
    const label = page.querySelector('#figures svg')?.getAttribute('aria-label') ?? ''
    assert.match(label, /30 slices, from [\d,]+ to [\d,]+ req\/s; mean 56,758, 95 % interval 55\.8–57\.8k/)
    assert.equal(all(page, '#figures svg circle').length, 30)
  })
})

test('where the system tells nothing of CPU and memory, neither columns nor charts stand empty', () => {
  const page = pageOf(fixtures.silentResult())
  const headings = textOf(page, 'thead th')
  assert.doesNotMatch(headings, /CPU|peak MB|generator/)
  assert.match(headings, /req\/s, × direct/)
  assert.equal(page.querySelector('#cost'), null)
  assert.doesNotMatch(textOf(page, '#races td'), /—/)
})

test('the mode is in every title', () => {
  const titles = (mode: Result['mode']) => textOf(pageOf({ ...rateResult(), mode }), 'h1')
  assert.match(titles('native'), /^Race of native processes, 2026/)
  assert.match(titles('docker'), /^Race of containers, 2026/)
  assert.match(titles('kubernetes'), /^Race of pods, 2026/)
})

describe('open loop', () => {
  test('latency: a curve per app and level up to its last percentile, and why others are missing', () => {
    const page = pageOf(latencyResult())
    const charts = all(page, 'article[data-role="hello"][data-topology="direct"] figure')
    assert.deepEqual(
      charts.map((chart) => chart.querySelector('figcaption')?.textContent),
      ['25', '50', '75']
        .map((part) => `At ${part} % of each app’s own capacity`)
        .concat(`At ${commonRate()} req/s for all`),
    )
    assert.equal(all(charts[0] as Element, 'path[d*=","]').length >= 6, true, 'koa is void')
    assert.match(
      charts[0]?.querySelector('svg')?.getAttribute('aria-label') ?? '',
      /bun at 24,000 req\/s: p50 0\.07\d ms.*p99 /,
    )
    assert.match(textOf(page, 'article .notes'), /too few samples/)
    assert.match(textOf(page, 'article .notes'), /the generator was late/)
  })

  test('capacity: a staircase per cell, and every step as a row', () => {
    const result = capacityResult()
    const page = pageOf(result)
    const steps = (result.analysis ?? []).reduce((sum, { steps }) => sum + steps.length, 0)
    assert.equal(all(page, '#figures figure').length, result.analysis?.length)
    assert.equal(all(page, '#figures details tbody tr').length, steps)
  })

  test('overload: goodput, p99 and recovery, also of the app that did not recover', () => {
    const page = pageOf(overloadResult())
    const titles = all(page, 'article[data-role="hello"] figcaption').map(({ textContent }) => textContent)
    assert.deepEqual(titles, [
      'Goodput, part of the capacity',
      'p99 during the overload, ms',
      'Recovery, seconds. Not recovered in the time allowed: hono.',
      'p99 after the overload, ms',
    ])
  })
})

/** The rate that was the same for all, as it was built in: half of what the slowest can do. */
function commonRate(): string {
  const level = latencyResult().analysis?.[0]?.levels.find(({ level }) => level === 'common')
  return formatRate(level?.offered ?? 0)
}
