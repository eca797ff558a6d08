import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { parseHTML } from 'linkedom'
import { type Chart, ratioChart } from '../../src/report/chart.ts'
import type { Document } from '../../src/report/document.ts'
import { drawChart } from '../../src/report/html/charts.ts'
import { formatHtml } from '../../src/report/html/page.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Result } from '../../src/result/result.ts'
import { golden, NAMES } from '../fixtures/golden.ts'
import { rateResult, smallRace, withFigures } from '../fixtures/results.ts'

/** What holds of the reports of every result, and what only a page shows. The golden ones say what is in them. */

/** What a test needs of an element; the DOM's own types would come with globals that Node does not have. */
interface Element {
  textContent: string
  innerHTML: string
  getAttribute(name: string): string | null
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}

const parsePage = (html: string) => parseHTML(html).document as unknown as Element
const pageOf = (result: Result) => parsePage(formatHtml(documentOf(result)))
const all = (page: Element, selector: string) => [...page.querySelectorAll(selector)]

/** Words as a reader sees them. */
function textOf(page: Element, selector = 'body > :not(script)'): string {
  return all(page, selector)
    .map(({ textContent }) => textContent.replace(/\s+/g, ' '))
    .join(' ')
}

const RESULTS: readonly (readonly [name: string, result: Result])[] = [
  ['the grid', rateResult()],
  ['one race', smallRace()],
  ...NAMES.map((name) => [name, golden(name)] as const),
]
/** What may be unknown. Erased together; all at once, one would hide another. */
const UNKNOWN: readonly (readonly [isFigure: boolean, ...names: string[]])[] = [
  [true, 'low', 'high'],
  [true, 'app', 'proxy', 'generator', 'coreUse', 'upstreamConnections'],
  [true, 'p', 'pAdjusted', 'smallest', 'taken', 'enoughMs', 'maxTimeMs'],
  [false, 'finishedAt', 'governor', 'control', 'smallestEffect', 'cores'],
]

/** Without some of that, wherever it stands. What was planned is known. */
function erasedOf(result: Result, [isFigure, ...names]: (typeof UNKNOWN)[number]): Result {
  const isErased = (name: string, value: unknown) =>
    names.includes(name) && (typeof value === 'number') === isFigure
  const text = JSON.stringify(result, (name, value) => (isErased(name, value) ? null : value))
  return { ...JSON.parse(text), experiment: result.experiment, cells: result.cells }
}

const ERASED = NAMES.flatMap((name) =>
  UNKNOWN.map((names) => [`${name} without ${names.slice(1)}`, erasedOf(golden(name), names)] as const),
)

/** GitHub refuses longer comments. */
const LONGEST_COMMENT = 65_536

const NO_FIGURE = /null|undefined|NaN|Infinity|\[object/

/** No line is too long, nothing unknown has a figure, colour repeats what the text says. */
function assertTerminal(document: Document): void {
  for (const columns of [60, 80, 200]) {
    const text = formatTerminal(document, { columns, color: false })
    assert.doesNotMatch(text, NO_FIGURE)
    for (const line of text.split('\n')) assert.ok(line.length <= columns, `${line.length}: ${line}`)
    const colored = formatTerminal(document, { columns, color: true })
    assert.equal(stripVTControlCharacters(colored), text)
  }
}

/** It fits a comment, and every table and fold is whole. */
function assertMarkdown(document: Document): void {
  const text = formatMarkdown(document)
  assert.ok(text.length < LONGEST_COMMENT, `${text.length}`)
  assert.doesNotMatch(text, NO_FIGURE)
  assert.equal(text.match(/<details>/g)?.length, text.match(/<\/details>/g)?.length)
  for (const table of text.split('\n\n').filter((block) => block.startsWith('| ')))
    assert.equal(new Set(table.split('\n').map((line) => line.split('|').length)).size, 1, table)
}

/** It begins with the finding, ids are unique, every chart has a name with figures. */
function assertPage(document: Document): void {
  const html = formatHtml(document)
  assert.ok(html.length < 1.5e6, 'it can be sent')
  const page = parsePage(html)
  assert.doesNotMatch(page.querySelector('body')?.innerHTML ?? '', /undefined|NaN|Infinity|\[object/)
  assert.equal(page.querySelector('h1')?.textContent, document.finding.replaceAll('`', ''))
  const ids = all(page, '[id]').map((element) => element.getAttribute('id'))
  assert.equal(new Set(ids).size, ids.length)
  for (const figure of all(page, 'figure')) {
    const image = figure.querySelector('svg')
    assert.equal(image?.getAttribute('role'), 'img')
    assert.match(image?.getAttribute('aria-label') ?? '', /\. .*\d|Void/)
  }
}

for (const [name, result] of RESULTS)
  test(`${name}: on a terminal, in Markdown, as a page`, () => {
    const document = documentOf(result)
    assertTerminal(document)
    assertMarkdown(document)
    assertPage(document)
  })

// A page is the Markdown with charts, and a terminal has the figures of these.
for (const [name, result] of ERASED)
  test(`${name}: on a terminal and in Markdown`, () => {
    const document = documentOf(result)
    assertTerminal(document)
    assertMarkdown(document)
  })

const page = pageOf(rateResult())

test('a panel per role and topology: best first, leaders in colour', () => {
  const panels = all(page, 'figure')
  assert.deepEqual(
    panels.map((panel) => panel.querySelector('figcaption')?.textContent),
    ['hello', 'ssr', 'status'].flatMap((role) => ['direct', 'nginx'].map((via) => `${role} ${via}`)),
  )
  const [hello] = panels
  const label = hello?.querySelector('svg')?.getAttribute('aria-label') ?? ''
  assert.match(label, /^hello direct\. × node, log scale: bun 1\.1\d \(1\.\d\d–1\.\d\d\), /)
  assert.equal(all(hello as Element, '[fill="var(--accent)"]').length, 1)
})

test('a chart of ratios reaches what was measured, but not what would make all others look alike', () => {
  const drawn = (...ratios: readonly number[]) => {
    const dots = ratios.map((value, index) => ({
      name: `claim ${index}`,
      value,
      leads: false,
      low: value * 0.9,
      high: value * 1.1,
    }))
    const chart = ratioChart({ title: '', caption: '', panels: [{ title: '', dots }] })
    const drawing = parsePage(String(drawChart(chart as Chart)))
    return { dots: all(drawing, 'circle').length, arrows: textOf(drawing, 'text').match(/[◂▸]/g) ?? [] }
  }
  assert.deepEqual(drawn(0.3, 1.2, 4.83), { dots: 3, arrows: [] })
  assert.deepEqual(drawn(0.01, 1.1, 1.2, 5029), { dots: 2, arrows: ['◂', '▸'] })
})

test('the policy allows the one style sheet of the page, and nothing else', () => {
  const meta = page.querySelector('meta[http-equiv="content-security-policy"]')
  const policy = meta?.getAttribute('content') ?? ''
  const style = page.querySelector('style')?.innerHTML ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  assert.match(policy, /^default-src 'none'; /)
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`))
  assert.doesNotMatch(policy, /script-src|unsafe|https?:/)
  assert.equal(all(page, 'script, [style], [onclick], [src], link:not([href="data:,"])').length, 0)
})

test('whatever is put in stays text, on a page and in Markdown', () => {
  const evil = `</script></style><script>alert(1)</script><img src=x onerror="alert(1)">"'& *x* [a](b)`
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
  assert.equal(all(page, 'script, img, [onerror]').length, 0)
  assert.equal(all(page, 'style').length, 1)
  assert.ok(textOf(page).includes('<script>alert(1)</script>'))
  assert.equal(pageOf(hostile).querySelector('pre')?.textContent, evil)
  const [text = ''] = formatMarkdown(documentOf(withFindings)).split('## Repeat it')
  assert.doesNotMatch(text, /(?<!\\)<(?:script|img)/)
  assert.match(text, /\\<script\\>.* \\\*x\\\* \\\[a\\\]\(/)
})
