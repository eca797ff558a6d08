import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { capital, plural } from '@startgrid/cli/text.ts'
import type { Result } from '../../model/result.ts'
import { describeWarning } from '../../model/warnings.ts'
import { titleOf } from '../legend.ts'
import { describeMachine, describeSettings } from '../provenance.ts'
import { sectionsOf } from '../sections.ts'
import { summarise } from '../summary.ts'
import { raceTitle } from './chart.ts'
import { controls } from './controls.ts'
import { html, type Markup, prose, trusted } from './markup.ts'
import { type PageSection, pageSections } from './page-sections.ts'

/** report.html: one file that needs no network, and no script to be complete. */

const STYLE = ['theme', 'page', 'table', 'chart', 'print'].map((name) => read(`${name}.css`)).join('')
/** Sorting and filtering. */
const SCRIPT = read('page.js')

/** Everything else is forbidden: even if markup got in, it could load and run nothing. */
const POLICY = [
  "default-src 'none'",
  `style-src '${hashOf(STYLE)}'`,
  `script-src '${hashOf(SCRIPT)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** A result as a page: the summary first, then figures, then what they rest on. */
export function formatHtml(result: Result): string {
  const title = titleOf(result)
  const sections = pageSections(result)
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${trusted(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title} – Startgrid</title>
<link rel="icon" href="data:,">
<style>${trusted(STYLE)}</style>
</head>
<body>
${heading(title, result)}
<main>
${summary(result)}
${warnings(result)}
${contents(sections)}
${result.mode !== 'target' && controls(result)}
${sections.map(sectionOf)}
</main>
<script>${trusted(SCRIPT)}</script>
</body>
</html>
`
  return page.toString()
}

function heading(title: string, result: Result): Markup {
  return html`<header>
<p class="brand">Startgrid</p>
<h1>${title}</h1>
<p>${capital(describeMachine(result))}</p>
<p>${capital(describeSettings(result))}</p>
${result.finishedAt === null && html`<p class="interrupted">Interrupted: not everything that was planned was measured.</p>`}
</header>`
}

/** The beginning of a sentence that names its race stands out. */
function summary(result: Result): Markup {
  const titles = sectionsOf(result).flatMap(({ race }) => (race ? `${raceTitle(race)}: ` : []))
  const sentences = [...summarise(result), ...describeDisturbance(result)]
  const items = sentences.map((sentence) => {
    const title = titles.find((one) => sentence.startsWith(one)) ?? ''
    return html`<li>${title !== '' && html`<strong>${title}</strong>`}${prose(sentence.slice(title.length))}</li>`
  })
  return html`<section id="summary" aria-labelledby="summary-title"><h2 id="summary-title">Summary</h2>
<ul class="summary">${items}</ul></section>`
}

/** `None of 576 slices was visibly disturbed by others.`, if no warning says otherwise. */
function describeDisturbance({ mode, heats, warnings }: Result): string[] {
  // What others did to a server elsewhere is not known.
  if (mode === 'target' || warnings.some(({ kind }) => kind === 'excluded')) return []
  const measured = heats.flatMap(({ slices }) => slices.filter(({ phase }) => phase === 'measure'))
  if (measured.length === 0) return []
  return measured.some((slice) => slice.disturbed)
    ? []
    : [`None of ${plural(measured.length, 'slice')} was visibly disturbed by others.`]
}

function warnings(result: Result): Markup | null {
  if (result.warnings.length === 0) return null
  const items = result.warnings.map((warning) => html`<li>${prose(describeWarning(warning))}</li>`)
  return html`<section id="warnings" class="warnings" aria-labelledby="warnings-title">
<h2 id="warnings-title">Warnings</h2><ul>${items}</ul></section>`
}

function contents(sections: readonly PageSection[]): Markup {
  const links = sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)
  return html`<nav aria-label="Contents"><ul>${links}</ul></nav>`
}

function sectionOf({ id, title, body }: PageSection): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}
</section>`
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`
}
