import type { Result } from '../../model/result.ts'
import { legendOf } from '../legend.ts'
import { describeReach } from '../provenance.ts'
import { html, type Markup, prose } from './markup.ts'

/** How to read the page, shortly, and how far its figures reach. */
export function guide(result: Result): Markup {
  const reach = describeReach(result)
  const raced = result.kind === 'rate' && result.mode !== 'target'
  return html`${reach !== null && html`<p><strong>${prose(reach)}</strong></p>`}
<ul>
<li>${prose(legendOf(result))}</li>
${raced && RACED}
<li>A number that failed a gate is void: it says something about the measurement, not about the app.</li>
<li>${CARRIES_OVER[result.mode]}</li>
</ul>`
}

const CARRIES_OVER: Readonly<Record<Result['mode'], string>> = {
  native: 'Rates and ratios are those of this machine. Both differ on another one.',
  docker:
    'Rates are those of containers on this machine, and are never compared with native processes. Rates and ratios differ on another machine.',
  kubernetes:
    'Rates are those of pods on these nodes, over the network between them, and are never compared with native processes. Rates and ratios differ on other nodes.',
  target:
    'The rate is that of one launch, over this network, at this hour. Ask a second time before you act on it.',
}

const RACED = html`<li>A whisker is the 95 % interval: of 20 such intervals one is expected to miss. Two whiskers that overlap do not prove a tie, nor two
that do not a difference: the rank range and the table of pairs decide.</li>
<li>The closed loop of these races says how much work an app can do, not how fast it responds: that is <code>pnpm bench latency</code>.</li>`
