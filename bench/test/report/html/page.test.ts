import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { type Chart, ratioChart } from '../../../src/report/document.ts'
import { drawChart } from '../../../src/report/html/charts.ts'
import { formatHtml } from '../../../src/report/html/page.ts'
import { documentOf } from '../../../src/report/report.ts'
import type { Result } from '../../../src/result/result.ts'
import { all, type Element, pageOf, parsePage, textOf } from '../../fixtures/page.ts'
import { rateResult, suspectResult } from '../../fixtures/results.ts'
import { withFigures } from '../../fixtures/small-race.ts'

/** What only a page shows: charts, and rows that stand out. It can be sent to anybody and opened anywhere. */

const page = pageOf(rateResult())

test('a panel per role and topology: best first, leaders in colour, ties in brackets', () => {
  const panels = all(page, 'figure')
  assert.deepEqual(
    panels.map((panel) => panel.querySelector('figcaption')?.textContent),
    ['hello', 'ssr', 'status'].flatMap((role) => ['direct', 'nginx'].map((via) => `${role} ${via}`)),
  )
  const [hello] = panels
  const label = hello?.querySelector('svg')?.getAttribute('aria-label') ?? ''
  assert.match(label, /^hello direct\. × node, log scale: bun 1\.6\d \(1\.\d\d–1\.\d\d\), /)
  assert.equal(all(hello as Element, '[fill="var(--accent)"]').length, 1)
  assert.equal(all(hello as Element, '.tie').length, 2)
})

test('a void cell is struck, and has its reason below the table instead of a number', () => {
  const koa = all(page, 'tr:has(del)').find(({ textContent }) => textContent.includes('koa'))
  assert.match(koa?.textContent.replace(/\s+/g, '') ?? '', /^koa[—]*void[—\d]*$/)
  assert.match(textOf(page, '.scroll + ul'), /Void: koa \(server and proxy used 7\d % of their core\)\./)
  assert.match(textOf(pageOf(suspectResult()), 'tr:has(del)'), /hello direct.*suspect/)
})

test('a chart of ratios reaches what was measured, but not what would make all others look alike', () => {
  const drawn = (...ratios: readonly number[]) => {
    const dots = ratios.map((value, index) => ({
      ...{ name: `claim ${index}`, value, leads: false },
      ...{ low: value * 0.9, high: value * 1.1 },
    }))
    const chart = ratioChart({ title: '', caption: '', panels: [{ title: '', dots }] })
    const drawing = parsePage(String(drawChart(chart as Chart)))
    return { dots: all(drawing, 'circle').length, arrows: textOf(drawing, 'text').match(/[◂▸]/g) ?? [] }
  }
  assert.deepEqual(drawn(0.3, 1.2, 4.83), { dots: 3, arrows: [] })
  assert.deepEqual(drawn(0.01, 1.1, 1.2, 5029), { dots: 2, arrows: ['◂', '▸'] })
})

test('the policy allows the one style sheet of the page, and nothing else', () => {
  const page = pageOf(rateResult())
  const policy =
    page.querySelector('meta[http-equiv="content-security-policy"]')?.getAttribute('content') ?? ''
  const style = page.querySelector('style')?.innerHTML ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  assert.match(policy, /^default-src 'none'; /)
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`))
  assert.doesNotMatch(policy, /script-src/)
  assert.doesNotMatch(policy, /unsafe|https?:/)
  assert.deepEqual([all(page, 'style').length, all(page, 'script').length], [1, 0])
  assert.deepEqual(all(page, '[style], [onclick], [src], link:not([href="data:,"])'), [])
})

test('whatever is put in stays text', () => {
  const evil = `</script></style><script>alert(1)</script><img src=x onerror="alert(1)">"'&`
  const result = rateResult()
  const hostile: Result = {
    ...result,
    command: evil,
    machine: { ...result.machine, cpu: evil, os: evil },
    versions: { ...result.versions, packages: { [evil]: evil } },
    warnings: [{ kind: 'not-saved', text: evil }],
    cells: result.cells.map((cell) => ({
      ...cell,
      title: cell.title === 'koa' ? evil : cell.title,
      engine: cell.engine && evil,
      workload: evil,
      skipped: cell.skipped && evil,
    })),
  }
  const withFindings = withFigures(hostile, (figures) => ({ void: figures.void && evil }))
  const page = pageOf(withFindings)
  assert.equal(all(page, 'script').length, 0)
  assert.equal(all(page, 'style').length, 1)
  assert.deepEqual(all(page, 'img, [onerror]'), [])
  assert.ok(textOf(page).includes('<script>alert(1)</script>'))
  assert.equal(pageOf(hostile).querySelector('pre')?.textContent, evil)
})

test('is small enough to be sent', () => {
  assert.ok(formatHtml(documentOf(rateResult())).length < 1.5e6)
})
