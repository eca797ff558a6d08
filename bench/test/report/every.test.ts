import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { formatHtml } from '../../src/report/html/page.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { Result } from '../../src/result/result.ts'
import { golden, NAMES, withNulls } from '../fixtures/golden.ts'
import { all, parsePage } from '../fixtures/page.ts'
import { contendedResult, interruptedResult, rateResult, suspectResult } from '../fixtures/results.ts'
import { smallRace } from '../fixtures/small-race.ts'

/** What holds of the reports of every result. The golden ones say what is in them. */

const RACES = [rateResult, suspectResult, interruptedResult, contendedResult, smallRace].map(
  (make): [name: string, result: Result] => [make.name, make()],
)
const GOLDEN = NAMES.map((name): [name: string, result: Result] => [name, golden(name)])
const ERASED = GOLDEN.flatMap(([name, result]) =>
  [...withNulls(result)].map((erased, index): [name: string, result: Result] => [
    `${name} without some figures, ${index}`,
    erased,
  ]),
)

/** GitHub refuses longer comments. */
const LONGEST_COMMENT = 65_536

const NO_FIGURE = /null|undefined|NaN|Infinity|\[object/

for (const [name, result] of [...RACES, ...GOLDEN, ...ERASED]) {
  const make = () => documentOf(result)
  describe(name, () => {
    test('on a terminal: no line is too long, nothing unknown has a figure, colour repeats what the text says', () => {
      const document = make()
      for (const columns of [60, 80, 120, 200]) {
        const text = formatTerminal(document, { columns, color: false })
        assert.doesNotMatch(text, NO_FIGURE)
        for (const line of text.split('\n')) assert.ok(line.length <= columns, `${line.length}: ${line}`)
        const colored = formatTerminal(document, { columns, color: true })
        assert.equal(stripVTControlCharacters(colored), text)
      }
    })

    test('in Markdown: it fits a comment, and every table and fold is whole', () => {
      const text = formatMarkdown(make())
      assert.ok(text.length < LONGEST_COMMENT, `${text.length}`)
      assert.doesNotMatch(text, NO_FIGURE)
      assert.equal(text.match(/<details>/g)?.length, text.match(/<\/details>/g)?.length)
      for (const table of text.split('\n\n').filter((block) => block.startsWith('| ')))
        assert.equal(new Set(table.split('\n').map((line) => line.split('|').length)).size, 1, table)
    })

    // A page is the Markdown with charts, and a terminal has the figures of these.
    if (ERASED.some(([erased]) => erased === name)) return

    test('as a page: it begins with the finding, ids are unique, every chart has a name with figures', () => {
      const document = make()
      const page = parsePage(formatHtml(document))
      const body = page.querySelector('body')?.innerHTML.replace(/<script>.*/s, '') ?? ''
      assert.doesNotMatch(body, /undefined|NaN|Infinity|\[object/)
      assert.equal(page.querySelector('h1')?.textContent, document.finding.replaceAll('`', ''))
      const ids = all(page, '[id]').map((element) => element.getAttribute('id'))
      assert.equal(new Set(ids).size, ids.length)
      for (const figure of all(page, 'figure')) {
        const image = figure.querySelector('svg')
        assert.equal(image?.getAttribute('role'), 'img')
        assert.match(image?.getAttribute('aria-label') ?? '', /\. .*\d|Void/)
      }
    })
  })
}
