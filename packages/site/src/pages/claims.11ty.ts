import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { machineFolder } from '@startgrid/bench/src/publish.ts'
import { html, type Markup } from '@startgrid/bench/src/report/html/markup.ts'
import type { ClaimResult } from '@startgrid/bench/src/result/figures.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { formatRatio } from '@startgrid/cli/numbers.ts'
import { nameMachine } from '@startgrid/machine/machine.ts'
import { ROOT } from '../documents.ts'
import { type ClaimRow, claimsOf, countVerdicts, kindOf, readStudies } from '../stored.ts'

/** Claims: what was published, and what came out here, of all studies on one scale. */

export function render(): string {
  const records = readStudies()
  const machines = Map.groupBy(records, ({ machine }) => nameMachine(machine))
  const verdicts = [...new Set(records.flatMap(claimsOf).map(({ verdict }) => kindOf(verdict)))].toSorted()
  const questions = globSync('docs/studies/!(README).md', { cwd: ROOT })
    .map((file) => basename(file, '.md'))
    .filter((name) => records.every((one) => one.experiment.name !== name || claimsOf(one).length === 0))
  return html`<h1>Claims</h1>
<p>What others have published about JavaScript servers, and what came out here. Each row is a ratio, published (○) and ours (●, with its 95 % interval), on one logarithmic scale.
<a href="/docs/studies/">How a verdict follows from the interval, and the studies one by one</a>. <code>npx pnpm@12 bench study NAME</code> tests a claim on your machine.</p>
<ul>${[...machines].map(([machine, own]) => html`<li>${machine}: ${countVerdicts(own)}.</li>`)}</ul>
<form id="claims" aria-label="Which claims" hidden>
<label>Verdict <select name="verdict"><option value="">all</option>${verdicts.map((one) => html`<option>${one}</option>`)}</select></label>
<label>Machine <select name="machine"><option value="">all</option>${[...machines.keys()].map((one) => html`<option>${one}</option>`)}</select></label>
<output></output>
</form>
${[...machines].map(([machine, own]) => machineSection(machine, own))}
${questions.length > 0 && html`<h2>Other studies</h2><p>Questions of our own, and what has not been measured yet.</p><ul>${questions.map((name) => html`<li><a href="/docs/studies/${name}/">${titleOf(name)}</a></li>`)}</ul>`}
`.toString()
}

function machineSection(machine: string, records: readonly Result[]): Markup {
  const days = [...new Set(records.map(({ startedAt }) => startedAt.slice(0, 10)))]
  return html`<section data-claims="${machine}"><h2>${machine}, ${days.join(' and ')}</h2>
${records.map((record) => {
  const rows = claimsOf(record)
  if (rows.length === 0) return null
  return html`<section aria-label="${titleOf(record.experiment.name)}, ${machine}">
<h3 id="${machineFolder(record)}-${record.experiment.name}"><a href="/docs/studies/${record.experiment.name}/">${titleOf(record.experiment.name)}</a></h3>
<ul class="claims">${rows.map(claimRow)}</ul>
<p class="quiet"><a href="/data/studies/${machineFolder(record)}/${record.experiment.name}.json">Raw JSON</a>. This measures it again: <code>npx pnpm@12 bench study ${record.experiment.name}</code></p>
</section>`
})}</section>`
}

/** That of its page. */
function titleOf(study: string): string {
  const [, title = study] = /^# (.*)$/m.exec(readFileSync(`${ROOT}docs/studies/${study}.md`, 'utf8')) ?? []
  return title
}

function claimRow({ claim, verdict, ours }: ClaimRow): Markup {
  return html`<li data-verdict="${kindOf(verdict)}">
<span>${claim.says}</span>
${dumbbell(claim, ours)}
<span><b>${verdict}</b><br><span class="quiet">published ${formatRatio(claim.published)}, ours ${ours}</span></span>
</li>
`
}

const LEAST = 0.1
const MOST = 40
const WIDTH = 240

/** Pixels from the left. */
function place(ratio: number): number {
  const part = Math.log(ratio / LEAST) / Math.log(MOST / LEAST)
  return Math.round(Math.min(1, Math.max(0, part)) * (WIDTH - 16) + 8)
}

function dumbbell({ published, ratio }: ClaimResult, ours: string): Markup {
  const isShown = ratio !== null && ours !== '—'
  const { low, high } = isShown ? ratio : { low: null, high: null }
  const ticks = [0.1, 1, 10].map(
    (tick) =>
      html`<line class="${tick === 1 ? 'one' : 'tick'}" x1="${place(tick)}" x2="${place(tick)}" y1="0" y2="26"></line><text x="${place(tick)}" y="38">${tick}</text>`,
  )
  return html`<svg viewBox="0 0 ${WIDTH} 40" role="img" aria-label="published ${formatRatio(published)}, ours ${ours}">
${ticks}
${isShown && html`<line class="between" x1="${place(published)}" x2="${place(ratio.value)}" y1="13" y2="13"></line>`}
${low !== null && high !== null && html`<line class="interval" x1="${place(low)}" x2="${place(high)}" y1="13" y2="13"></line>`}
<circle class="published" cx="${place(published)}" cy="13" r="4.5"></circle>
${isShown && html`<circle class="ours" cx="${place(ratio.value)}" cy="13" r="4.5"></circle>`}
</svg>`
}
