import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { capital } from '@startgrid/cli/text.ts'
import { describeServers } from '../../model/names.ts'
import { isRace, type Result } from '../../model/result.ts'
import {
  describeCluster,
  describeCores,
  describeDriver,
  describeMachine,
  describeNginx,
  describeSettings,
  describeSource,
  describeVersions,
} from '../provenance.ts'
import { html, type Markup } from './markup.ts'

/** Where the result comes from, and how to get it again. */
export function provenance(result: Result): Markup {
  const { startedAt, finishedAt, conformance } = result
  const proven = conformance.filter(({ differences }) => differences.length === 0).length
  const cluster = describeCluster(result)
  const items: [string, string][] = [
    [
      'When',
      `${formatTimestamp(startedAt)} to ${finishedAt === null ? 'an interruption' : formatTimestamp(finishedAt)}`,
    ],
    ['Mode', `${result.mode}: ${describeServers(result)}`],
    ['Machine', describeMachine(result)],
    ...(cluster === undefined ? [] : [['Cluster', cluster] satisfies [string, string]]),
    ['Cores', describeCores(result)],
    ['Driver', describeDriver(result)],
    [
      'Effort',
      `${describeSettings(result)}; ${isRace(result) ? 'heats' : 'launches'} in a random order from the seed`,
    ],
    ['Versions', describeVersions(result)],
    ['NGINX', describeNginx(result)],
    ['Source', describeSource(result)],
    ['Contract', `${proven} of ${conformance.length} cells passed the suite`],
  ]
  return html`<p>This command repeats it, in the same order:</p>
<pre tabindex="0" role="group" aria-label="Command that repeats it"><code>${result.command}</code></pre>
<dl class="facts">${items.map(([term, text]) => html`<div><dt>${term}</dt><dd>${capital(text)}</dd></div>`)}</dl>`
}
