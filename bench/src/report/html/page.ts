import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Table } from '@startgrid/cli/table.ts'
import type { Document, Section } from '../document.ts'
import { drawChart } from './charts.ts'
import { html, type Markup, prose, trusted } from './markup.ts'

/** A document as one file that needs no network and no script. */

const STYLE = ['theme', 'page', 'table', 'chart', 'print'].map((name) => read(`${name}.css`)).join('')

/** Everything else is forbidden: even if markup got in, it could load and run nothing. */
const POLICY = [
  "default-src 'none'",
  `style-src '${hashOf(STYLE)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The finding first, then what shows it, then figures and what they rest on. */
export function formatHtml(document: Document): string {
  const { finding, subject, warnings, chart, summary, verdicts, sections, command } = document
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${finding} – Startgrid</title>
<link rel="icon" href="data:,">
<style>${trusted(STYLE)}</style>
</head>
<body>
<header>
<p class="brand">Startgrid</p>
<h1>${prose(finding)}</h1>
<p>${subject}.</p>
</header>
<main>
${list('Warnings', 'warnings', warnings)}
${chart !== undefined && html`<section id="chart" aria-label="Chart">${drawChart(chart)}</section>`}
${list('Summary', 'summary', summary)}
${verdicts !== undefined && sectionOf(verdicts, 'verdicts')}
${sections.map((section, index) => sectionOf(section, idOf(index, sections)))}
<section id="command" aria-labelledby="command-title"><h2 id="command-title">Repeat it</h2>
<pre tabindex="0" role="group" aria-label="Command that repeats it"><code>${command}</code></pre></section>
</main>
</body>
</html>
`
  return page.toString()
}

function list(title: string, id: string, sentences: readonly string[]): Markup | null {
  if (sentences.length === 0) return null
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
<ul>${sentences.map((sentence) => html`<li>${prose(sentence)}</li>`)}</ul></section>`
}

/** From the words before the colon. */
function idOf(index: number, sections: readonly Section[]): string {
  const ids = sections.map(({ title }) => title.replace(/:.*/s, '').toLowerCase().replace(/\W+/g, '-'))
  const id = ids[index] ?? ''
  return ids.indexOf(id) === index ? id : `${id}-${index}`
}

function sectionOf({ title, table, charts = [], notes, place }: Section, id: string): Markup {
  const body = html`${table !== undefined && tableOf(title, table)}
${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul>`}
${charts.length > 0 && html`<div>${charts.map(drawChart)}</div>`}`
  if (place !== undefined)
    return html`<details id="${id}"><summary>${prose(title)}</summary>${body}</details>\n`
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${prose(title)}</h2>
${body}
</section>\n`
}

/** It scrolls inside its own region. */
function tableOf(caption: string, { columns, rows }: Table): Markup {
  const headings = columns.map(({ heading, align }) => html`<th scope="col" class="${align}">${heading}</th>`)
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
<table><caption class="vh">${caption}</caption>
<thead><tr>${headings}</tr></thead>
<tbody>
${rows.map((row) => html`${rowOf(row, columns)}\n`)}</tbody></table></div>`
}

function rowOf(
  { tone, cells: [name = '', ...texts] }: Table['rows'][number],
  columns: Table['columns'],
): Markup {
  const heading = html`<th scope="row">${tone === 'void' ? html`<s>${name}</s>` : name}</th>`
  const cells = texts.map((text, index) => {
    if (columns[index + 1]?.align !== 'right') return html`<td>${prose(text)}</td>`
    return html`<td class="right">${text}</td>`
  })
  return html`<tr class="${tone}">${heading}${cells}</tr>`
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`
}
