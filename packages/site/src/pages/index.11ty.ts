import { costChart, costSentences } from '@startgrid/bench/src/report/costs.ts'
import { drawChart } from '@startgrid/bench/src/report/html/charts.ts'
import { html, type Markup } from '@startgrid/bench/src/report/html/markup.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { nameMachine } from '@startgrid/machine/machine.ts'
import { readStudies } from '../stored.ts'

/** Home: what this is, the first picture, and how to begin. */
export function render(): string {
  const list = new Intl.ListFormat('en').format(CATALOGUE.map(({ title }) => title))
  return html`<h1>Startgrid</h1>
<p class="lead">Three small web apps (hello world, a React page, a status page), each written with ${list}. Copy one to start a service, or race your own server. A test suite shows that all versions
behave alike. A benchmark says which one is faster, with 95 % intervals.</p>
<h2>Start with one of these</h2>
<p>Clone <a href="/repository/">the repository</a>, and type one of these in it. Node 20 or newer is enough: npx downloads everything else.</p>
<dl class="commands">
<div><dt>Race your server before and after a change</dt>
<dd><pre tabindex="0"><code>npx pnpm@12 bench race 'node before.js' 'node after.js'</code></pre></dd></div>
<div><dt>Copy an app as <a href="/start/">a project of your own</a></dt>
<dd><pre tabindex="0"><code>npx pnpm@12 eject fastify/ssr ../my-app</code></pre></dd></div>
<div><dt>Repeat <a href="/claims/">a published comparison</a></dt>
<dd><pre tabindex="0"><code>npx pnpm@12 bench study njs-vs-node</code></pre></dd></div>
</dl>
<h2>What does a framework cost?</h2>
<p>A framework adds CPU time to every request. The charts show what each one adds to the same app on bare node:http. <a href="/docs/studies/how-much-it-matters/">How much that matters</a> depends on the
machine, and on what else runs beside it.</p>
${readStudies().map(costsOf)}
<p class="quiet"><a href="/results/">Results</a> says which differences of rates were shown.</p>
<p><a href="/how-we-know/">How we know</a> that the servers are equal, and how often the intervals are right.</p>
`.toString()
}

/** What the study of costs found on one machine. */
function costsOf(record: Result): Markup | null {
  const chart = costChart(record)
  if (chart === undefined) return null
  return html`<h3>${nameMachine(record.machine)}, ${record.startedAt.slice(0, 10)}</h3>
<ul>${costSentences(record).map((sentence) => html`<li>${sentence}.</li>`)}</ul>
${drawChart(chart)}`
}
