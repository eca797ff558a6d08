import type { Standing, StandingEntry } from '@startgrid/bench/src/judge/ranks.ts'
import { type Chart, ratioChart } from '@startgrid/bench/src/report/chart.ts'
import { drawChart } from '@startgrid/bench/src/report/html/charts.ts'
import { html, type Markup, prose } from '@startgrid/bench/src/report/html/markup.ts'
import { nameOf, type Result } from '@startgrid/bench/src/result/result.ts'
import {
  formatMegabytes,
  formatMicros,
  formatRank,
  formatRate,
  formatRatioInterval,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import { inGroups, type Machine, readMachines } from '../stored.ts'

/** Results: every race of every machine. A script shows one at a time; without it all are there. */
export function render(): string {
  const machines = readMachines()
  const standings = machines.flatMap((machine) => machine.standings)
  const names = machines.map(({ name, title }) => [name, title])
  const roles = [...new Set(standings.map(({ race }) => race))].map((one) => [one])
  const topologies = [...new Set(standings.map(({ topology }) => topology))].map((one) => [one])
  return html`<h1>Results</h1>
<p>Every app does <a href="/docs/contract/">the same work</a>. A ratio is one of this machine and this commit; another machine has others, so machines are shown apart and never averaged.
<a href="/docs/results/">How to read a result, and how to add yours</a>.</p>
<form id="pick" aria-label="Which race" hidden>
${pick('machine', 'Machine', names)}
${pick('role', 'Role', roles)}
${pick('topology', 'Topology', topologies)}
</form>
${machines.map(machineSection)}
<h2>How a change is judged</h2>
<p>Not by a curve over days: bare Node is the denominator and gets faster as well, and hosts change. Race both commits within the same minutes: <code>npx pnpm@12 bench race --git main</code>.</p>
`.toString()
}

function pick(name: string, label: string, options: readonly (readonly string[])[]): Markup {
  return html`<label>${label} <select name="${name}">${options.map(
    ([value = '', text = value]) => html`<option value="${value}">${text}</option>`,
  )}</select></label>`
}

function machineSection(machine: Machine): Markup {
  const { name, title, result, standings } = machine
  const { versions, warnings } = result
  return html`<section data-machine="${name}" aria-labelledby="${name}">
<h2 id="${name}">${title}</h2>
<p class="quiet">Startgrid ${versions.startgrid}, Node ${versions.node}, Bun ${versions.bun}. <a href="/data/${name}.json">Raw JSON</a>.</p>
<details><summary>${warnings.length} warnings</summary><ul>${warnings.map(({ text }) => html`<li>${prose(text)}</li>`)}</ul></details>
${standings.map((standing) => raceSection(standing, machine))}
</section>
`
}

function raceSection(standing: Standing, { name, result }: Machine): Markup {
  const { race, topology, workload, connections } = standing
  const id = `${name}-${race}-${topology}`
  const entries = inGroups(standing.entries)
  const chart = chartOf(standing, entries)
  return html`<section data-role="${race}" data-topology="${topology}" aria-labelledby="${id}">
<h3 id="${id}">${race} ${topology}: ${workload}, ${connections} connections</h3>
<div class="beside">
${chart !== undefined && drawChart(chart)}
${table(id, entries, result)}
</div>
<p class="quiet">This measures it again:</p>
<pre tabindex="0" role="group" aria-label="Command of ${race} ${topology}"><code>npx ${result.command.replace(/^pnpm/, 'pnpm@12')}</code></pre>
</section>
`
}

function chartOf({ race, topology }: Standing, entries: readonly StandingEntry[]): Chart | undefined {
  const dots = entries.flatMap(({ spec, place }) =>
    place?.ratio == null ? [] : [{ ...place.ratio, name: nameOf(spec), leads: place.from === 1 }],
  )
  return ratioChart({
    title: 'Requests per second over bare node:http',
    caption:
      'With 95 % intervals; who leads, or ties for it, in colour. Logarithmic; an arrow points to what is beyond.',
    panels: [{ title: `${race} ${topology}`, dots }],
    label: '× node',
  })
}

const COLUMNS: readonly [heading: string, text: (entry: StandingEntry, result: Result) => string][] = [
  ['place', ({ place }) => (place === null ? 'void' : formatRank(place))],
  ['× node (95 %)', ({ place }) => (place?.ratio == null ? '' : formatRatioInterval(place.ratio))],
  [
    '× direct (95 %)',
    ({ spec }, { analysis }) => {
      const cost = analysis?.proxyCosts.find(
        ({ app, topology, metric }) => app === spec.app && topology === spec.topology && metric === 'rate',
      )
      return cost === undefined ? '' : formatRatioInterval(cost.ratio)
    },
  ],
  ['req/s', ({ figures: { figures } }) => orUnknown(figures.rate?.value, formatRate)],
  ['CPU µs', ({ figures: { figures } }) => orUnknown(figures.cpu?.value, formatMicros)],
  ['peak MB', ({ figures }) => orUnknown(figures.peakMemory.app, formatMegabytes)],
]

function table(id: string, entries: readonly StandingEntry[], result: Result): Markup {
  const columns = COLUMNS.filter(([, text]) =>
    entries.some((entry) => !['', '—'].includes(text(entry, result))),
  )
  return html`<div class="scroll" role="group" aria-labelledby="${id}" tabindex="0"><table>
<thead><tr><th scope="col">framework</th>${columns.map(([heading]) => html`<th scope="col" class="right">${heading}</th>`)}</tr></thead>
<tbody>${entries.map(
    (entry) =>
      html`<tr><th scope="row">${nameOf(entry.spec)}</th>${columns.map(([, text]) => html`<td class="right">${text(entry, result)}</td>`)}</tr>\n`,
  )}</tbody></table></div>`
}
