import * as Plot from '@observablehq/plot'
import { plural } from '@startgrid/cli/text.ts'
import type { Heat, Result, Slice } from '../../model/result.ts'
import { chart } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { seriesOf } from './series.ts'

/** Heat by heat: which cell was under load when, and which slices others disturbed. */
export function timeline(result: Result): Markup {
  const charts = result.heats.map((heat) => heatChart(heat, result))
  return html`<ul class="legend">
<li><span class="swatch discarded"></span>warm-up, discarded</li>
<li><span class="swatch direct"></span>measured (upper half of a row: direct; below: behind NGINX)</li>
<li><span class="swatch disturbed"></span>disturbed by others, not used</li>
</ul>
<div class="panels">${charts}</div>`
}

const ROW = 14

function heatChart({ race, heat, seconds, slices, launches, failures }: Heat, result: Result): Markup {
  const role = result.cells.find((cell) => cell.race === race)?.role ?? 'hello'
  const apps = launches
    .map(({ app }) => app)
    .filter((app) => slices.some(({ cell }) => cell.startsWith(`${app} `)))
  const specs = new Map(result.cells.map((cell) => [cell.id, cell]))
  const rowOf = ({ cell }: Slice) => {
    const spec = specs.get(cell)
    const lower = spec !== undefined && spec.topology !== 'direct'
    return apps.indexOf(spec?.app ?? '') + (lower ? 0.22 : -0.22)
  }
  const disturbed = slices.filter((slice) => slice.disturbed)
  const used = slices.filter((slice) => slice.phase === 'measure' && !slice.disturbed)
  const failed = failures.length === 0 ? '' : ` ${plural(failures.length, 'cell')} failed.`
  return chart({
    title: `${role}, heat ${heat}`,
    description: `${plural(used.length, 'slice')} measured in ${seconds.toFixed(0)} s, ${disturbed.length} disturbed.${failed}`,
    race: { role },
    plot: {
      height: 44 + ROW * apps.length,
      marginLeft: 74,
      x: { domain: [0, seconds], label: 'seconds', labelAnchor: 'center', labelArrow: 'none', ticks: 6 },
      y: {
        domain: [apps.length - 0.5, -0.5],
        label: null,
        ticks: apps.map((_, index) => index),
        tickFormat: (index: number) => (apps[index] ?? '').replace(`/${role}`, ''),
        tickSize: 0,
      },
      marks: [
        bars(
          slices.filter(({ phase }) => phase === 'warmup'),
          rowOf,
          'var(--discarded-mark)',
        ),
        ...[...Map.groupBy(used, ({ cell }) => specs.get(cell)?.framework ?? '')].map(([framework, own]) =>
          bars(own, rowOf, seriesOf(framework.replace(/#2$/, '')).color),
        ),
        bars(disturbed, rowOf, 'var(--bad)'),
        Plot.dot(disturbed, {
          x: ({ at, seconds }: Slice) => at + seconds / 2,
          y: rowOf,
          symbol: 'times',
          r: 3,
          stroke: 'var(--bad)',
        }),
      ],
    },
  })
}

/** All of one colour as one path: a thorough run has thousands of slices. */
function bars(slices: readonly Slice[], rowOf: (slice: Slice) => number, stroke: string): Plot.Markish {
  const points = slices.flatMap((slice) => [
    { x: slice.at, y: rowOf(slice) },
    { x: slice.at + slice.seconds, y: rowOf(slice) },
    { x: Number.NaN, y: 0 },
  ])
  return Plot.line(points, { x: 'x', y: 'y', stroke, strokeWidth: 5, strokeLinecap: 'butt' })
}
