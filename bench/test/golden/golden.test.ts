import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Document } from '../../src/report/document.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import { golden, NAMES } from '../fixtures/golden.ts'

/**
 * Small stored results of every kind, their figures and their reports. Figures change with the estimator alone. Texts may change on purpose:
 * `node --test --test-update-snapshots bench/test/golden` writes them again, and the diff is for the reviewer.
 */

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const STYLE = { columns: 80, color: false }
const asText = { serializers: [(text: string) => text] }

function keep(context: TestContext, name: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files))
    context.assert.fileSnapshot(text, `${FOLDER}${name}/${file}`, asText)
}

/** One line per entry, so that a diff names the cell. */
function linesOf(figures: object): string {
  return `${Object.entries(figures)
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map((one) => [name, one]) : [[name, value]]))
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join('\n')}\n`
}

function reportsOf(document: Document): Record<string, string> {
  return {
    'terminal.txt': formatTerminal(document, STYLE),
    'markdown.txt': formatMarkdown(document),
  }
}

for (const name of NAMES)
  test(`${name}: figures and reports are as they were`, (context) => {
    const result = golden(name)
    const { analysis, warnings } = result
    const document = documentOf(result)
    keep(context, name, {
      'figures.txt': linesOf({
        ...(Array.isArray(analysis) ? { cells: analysis } : analysis),
        warnings,
      }),
      ...reportsOf(document),
    })
  })
