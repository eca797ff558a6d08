import { formatEnds, formatRatio } from '@startgrid/cli/numbers.ts'
import type { Metric, ProxyCost } from '../../model/figures.ts'
import { METRIC_NAMES, nameOf } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { filterable } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { numberCell, rowHeading, table } from './table.ts'
import { type Axis, ratioAxis, whiskerCell, whiskerHeading } from './whisker.ts'

const METRICS: readonly Metric[] = ['rate', 'cpu']

/** What NGINX in front costs each app: the same launch behind it, over direct. */
export function proxyCosts(result: RaceResult): Markup {
  const costs = result.analysis?.proxyCosts ?? []
  const axes = { rate: axisOf(costs, 'rate'), cpu: axisOf(costs, 'cpu') }
  const metrics = METRICS.filter((metric) => costs.some((cost) => cost.metric === metric))
  const rows = [...Map.groupBy(costs, ({ app, topology }) => `${app} ${topology}`).values()].flatMap(
    (group) => {
      const [first] = group
      const spec = result.cells.find(({ id }) => id === `${first?.app} ${first?.topology}`)
      if (spec === undefined) return []
      const figures = metrics.map((metric) => ratioCells(group, metric, axes[metric], spec.framework))
      return [
        html`<tr${filterable(spec, spec.framework)}>${rowHeading(`${spec.role} ${nameOf(spec)}`)}<td>${spec.topology}</td>${figures}</tr>`,
      ]
    },
  )
  const figureHeadings = (text: string, axis: Axis) => [
    { text, align: 'right' as const, sortable: true },
    { text: '95 % interval', align: 'right' as const },
    whiskerHeading(text, axis, formatRatio),
  ]
  return table(
    'What NGINX in front costs each app',
    [
      { text: 'App', sortable: true },
      { text: 'Via', sortable: true },
      ...metrics.flatMap((metric) => figureHeadings(`${METRIC_NAMES[metric]}, × direct`, axes[metric])),
    ],
    rows,
  )
}

function axisOf(costs: readonly ProxyCost[], metric: Metric): Axis {
  return ratioAxis(costs.filter((cost) => cost.metric === metric).map(({ ratio }) => ratio))
}

function ratioCells(group: readonly ProxyCost[], metric: Metric, axis: Axis, framework: string): Markup {
  const ratio = group.find((cost) => cost.metric === metric)?.ratio
  if (ratio === undefined) return html`<td></td><td></td><td></td>`
  const ends = html`<td class="right quiet">${formatEnds(ratio, formatRatio)}</td>`
  return html`${numberCell(ratio.value, formatRatio(ratio.value), 'lead')}${ends}${whiskerCell(ratio, axis, framework)}`
}
