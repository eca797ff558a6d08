import { drawDots } from '@startgrid/bench/src/report/html/charts.ts'
import { html } from '@startgrid/bench/src/report/html/markup.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { describeExtraCost, extraCostChart, readExtraCosts } from '../extra-cost.ts'

/** Home: what this is, the first picture, and how to begin. */
export function render(): string {
  const list = new Intl.ListFormat('en').format(CATALOGUE.map(({ title }) => title))
  const machines = readExtraCosts()
  return html`<h1>Startgrid</h1>
<p class="lead">The same three JavaScript servers (hello world, a React page, a status route), written with ${list}. One test suite holds all of them to the same contract, and a benchmark compares
them with intervals.</p>
<h2>Three commands</h2>
<p>In a clone of <a href="/repository/">the repository</a>, with Node 20 or newer and nothing else.</p>
<dl class="commands">
<div><dt>Is my server slower since my change?</dt>
<dd><pre tabindex="0"><code>npx pnpm@12 bench race 'node before.js' 'node after.js'</code></pre></dd></div>
<div><dt>Start a service of your own. <a href="/start/">More</a></dt>
<dd><pre tabindex="0"><code>npx pnpm@12 eject fastify/ssr ../my-app</code></pre></dd></div>
<div><dt>Is it true what somebody published? <a href="/claims/">The claims so far</a></dt>
<dd><pre tabindex="0"><code>npx pnpm@12 bench study njs-vs-node</code></pre></dd></div>
</dl>
<h2>What does a framework cost?</h2>
<p>The CPU time that it adds to a request, compared with the same app on bare node:http. 5 µs are 1 % of a route that needs 0.5 ms of CPU time.</p>
<ul>${machines.map((machine) => html`<li>${describeExtraCost(machine)}</li>`)}</ul>
${machines.map((machine) => drawDots(extraCostChart(machine)))}
<p class="quiet">In the order of the alphabet: <a href="/results/">Results</a> says which differences were shown, and has Bun (another engine) and njs (an interpreter).</p>
<p><a href="/how-we-know/">How we know</a> that the servers are equal, and how often the intervals are right.</p>
`.toString()
}
