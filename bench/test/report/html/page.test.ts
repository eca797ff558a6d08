import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRate, formatRatio } from '@startgrid/cli/numbers.ts'
import { sample } from '@startgrid/cli/test-run.ts'
import { standingsOf } from '../../../src/judge/standings.ts'
import type { Result } from '../../../src/model/result.ts'
import { findingOf, summarise } from '../../../src/report/summary.ts'
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
      for (const id of ['where-it-comes-from', 'how-to-read-it', 'command'])
        assert.ok(page.querySelector(`#${id}`), id)
      assert.doesNotMatch(
        page.querySelector('body')?.innerHTML.replace(/<script>.*/s, '') ?? '',
        /NaN|undefined|Infinity|\[object/,
      )
    })

    test(`${name}: ids are unique`, () => {
      const ids = all(page, '[id]').map((element) => element.getAttribute('id'))
      assert.equal(new Set(ids).size, ids.length)
    })

    test(`${name}: every chart has a name with figures`, () => {
      for (const figure of all(page, 'figure')) {
        const image = figure.querySelector('svg')
        assert.equal(image?.getAttribute('role'), 'img')
        assert.match(image?.getAttribute('aria-label') ?? '', /\. .*\d|Void/)
      }
    })

    test(`${name}: begins with the finding, and ends with what repeats it`, () => {
      assert.equal(page.querySelector('h1')?.textContent, findingOf(result).replaceAll('`', ''))
      const sentences = all(page, '#summary li').map(({ textContent }) => textContent)
      assert.deepEqual(
        sentences,
        summarise(result).map((one) => one.replaceAll('`', '')),
      )
      assert.equal(page.querySelector('#command pre')?.textContent, result.command)
    })
  }
})

describe('a race', () => {
  const result = rateResult()
  const page = pageOf(result)

  test('has a row for every cell that was tried, best first, with rank, rate and interval', () => {
    for (const { race: role, topology, entries } of standingsOf(result)) {
      const rows = all(page, `#${role}-${topology} tbody tr`)
      assert.deepEqual(
        rows.map((row) => row.querySelector('th')?.textContent.split(' ')[0]),
        entries.map(({ spec }) => spec.title),
      )
      for (const [index, { figures, places }] of entries.entries()) {
        const text = rows[index]?.textContent ?? ''
        if (figures.rate === null) {
          assert.match(text, /^[a-z]+void/)
          continue
        }
        assert.ok(text.includes(formatRatio(places.rate?.ratio?.value ?? 1).replace(/^1\.00$/, '1')), text)
        assert.ok(text.includes(formatRate(figures.rate.value)), text)
      }
    }
  })

  test('says of a void cell which gate failed, what it found and what to do, instead of a number', () => {
    const row = all(page, '#status-nginx tr.void')[0]
    const gate = result.analysis?.cells
      .find(({ cell }) => cell === 'koa/status nginx')
      ?.gates.find(({ verdict }) => verdict === 'failed')
    assert.equal(row?.querySelector('s')?.textContent, 'koa')
    assert.match(row?.textContent ?? '', /^koavoid[—\d]*$/)
    const advice = gate?.advice?.replaceAll('`', '')
    assert.ok(
      textOf(page, '#status-nginx .notes').includes(`server-bound: koa (${gate?.finding}). ${advice}`),
    )
  })

  test('says why a cell was not tried', () => {
    assert.match(textOf(page, '#what-has-no-figures'), /Not tried: njs\/ssr nginx/)
    assert.doesNotMatch(textOf(page, '#every-gate-of-every-cell tbody'), /njs\/ssr nginx/)
  })

  test('tells failed gates in full, and has all gates of all cells behind a line', () => {
    assert.match(textOf(page, '#gates'), /No gate failed in 45 of 47 cells\./)
    assert.deepEqual(
      all(page, '#gates tr.void').map((row) => row.querySelector('td:nth-child(3)')?.textContent),
      ['hono/ssr direct', 'koa/status nginx'],
      'a cell of which others disturbed every slice keeps its number',
    )
    assert.ok(all(page, '#every-gate-of-every-cell tbody tr').length > 8)
  })

  test('draws a panel per role and topology: best first, leaders in colour, ties in brackets', () => {
    const panels = all(page, '#chart figure')
    assert.deepEqual(
      panels.map((panel) => panel.querySelector('figcaption')?.textContent),
      ['hello', 'ssr', 'status']
        .map((role) => `${role} direct`)
        .concat(['hello', 'ssr', 'status'].map((role) => `${role} nginx`)),
    )
    const [hello] = panels
    const label = hello?.querySelector('svg')?.getAttribute('aria-label') ?? ''
    assert.match(label, /^hello direct\. × node, log scale: bun 1\.6\d \(1\.57–1\.66\), /)
    assert.equal(all(hello as Element, '[fill="var(--accent)"]').length, 1)
    assert.equal(all(hello as Element, '.tie').length, 2)
  })

  test('marks the A/A control that found a difference where there is none', () => {
    const control = '#a-a-control tr.void'
    assert.match(textOf(pageOf(suspectResult()), control), /hello direct.*suspect/)
    assert.equal(all(page, control).length, 0)
  })

  test('is ranked by rate, also where others disturbed it', () => {
    assert.match(textOf(pageOf(contendedResult()), '#hello-direct h2'), /ranked by req\/s/)
  })

  test('that was interrupted says so', () => {
    assert.match(textOf(pageOf(interruptedResult()), '#warnings'), /Interrupted/)
    assert.doesNotMatch(textOf(page), /Interrupted/)
  })

  test('shows a kept number of a void cell struck and marked', () => {
    const kept = withFigures(smallRace(), ({ voided }) =>
      voided ? { rate: { value: 19_000, low: null, high: null } } : {},
    )
    const row = all(pageOf(kept), '#hello-nginx tr.void')[0]
    assert.match(row?.textContent ?? '', /^koavoid19,000/)
  })
})

describe('a server that already ran', () => {
  const page = pageOf(fixtures.targetResult())

  test('has its finding as the title, its row and its slices, and nothing to compare', () => {
    assert.match(textOf(page, 'h1'), /^Hello: 56,758 /)
    assert.match(textOf(page, 'header p'), /Rate of http:\/\/10\.0\.0\.9:3000, which already ran, /)
    assert.deepEqual(
      all(page, 'main > section').map((section) => section.getAttribute('id')),
      ['warnings', 'chart', 'summary', 'hello', 'command'],
    )
    assert.match(textOf(page, '#hello tbody tr'), /^http:\/\/10\.0\.0\.9:3000 ?56,758 ?55\.8–57\.8k/)
    assert.equal(all(page, '#chart svg circle').length, 30)
  })
})

test('where the system tells nothing of CPU and memory, neither columns nor charts stand empty', () => {
  const page = pageOf(fixtures.silentResult())
  const headings = textOf(page, 'thead th')
  assert.doesNotMatch(headings, /CPU|peak MB|generator/)
  assert.equal(page.querySelector('#cpu-time-per-request'), null)
  assert.doesNotMatch(textOf(page, 'section td'), /—/)
})

test('the mode is in every header', () => {
  const titles = (mode: Result['mode']) => textOf(pageOf({ ...rateResult(), mode }), 'header p')
  assert.match(titles('native'), /Race of native processes, 2026/)
  assert.match(titles('docker'), /Race of containers, 2026/)
  assert.match(titles('kubernetes'), /Race of pods, 2026/)
})

describe('open loop', () => {
  test('latency: p99 of all, a curve per app and level, and why percentiles are missing', () => {
    const page = pageOf(latencyResult())
    const titles = all(page, '#hello-direct figcaption').map(({ textContent }) => textContent)
    assert.deepEqual(
      titles.slice(0, 3),
      ['25', '50', '75'].map((part) => `At ${part} % of each app’s own capacity`),
    )
    assert.match(titles[3] ?? '', /^At [\d,]+ req\/s for all$/)
    const [first] = all(page, '#hello-direct figure')
    assert.ok(all(first as Element, 'path[d*=","]').length >= 6, 'koa is void')
    assert.match(textOf(page, '#hello-direct .notes'), /too few samples/)
    assert.match(textOf(page, '.notes'), /the generator was late/)
    assert.match(all(page, '#chart svg')[0]?.getAttribute('aria-label') ?? '', /: bun 0\.\d+ \(/)
  })

  test('capacity: a staircase per cell, and every step as a row', () => {
    const result = capacityResult()
    const page = pageOf(result)
    const steps = (result.analysis ?? []).reduce((sum, { steps }) => sum + steps.length, 0)
    const staircases = '#every-step-of-the-staircases'
    assert.equal(all(page, `${staircases} figure`).length, result.analysis?.length)
    assert.equal(all(page, `${staircases} tbody tr`).length, steps)
  })

  test('overload: the part of its capacity that each app delivers, and p99 after it', () => {
    const page = pageOf(overloadResult())
    assert.match(
      all(page, '#chart svg')[0]?.getAttribute('aria-label') ?? '',
      /part of the capacity: \w+ \d+ %/,
    )
    assert.match(textOf(page, '#hello-direct figcaption'), /^p99 after the overload/)
  })
})
