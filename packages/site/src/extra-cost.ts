import type { DotChart } from '@startgrid/bench/src/report/document.ts'
import { drawDots } from '@startgrid/bench/src/report/html/dots.ts'
import { HEADLINE } from '@startgrid/bench/studies/how-much-it-matters/study.ts'
import { findFramework } from '@startgrid/grid/apps.ts'
import { extraCosts, type Machine } from './machines.ts'

/** The first picture: what a framework costs beyond bare node:http, for a small route and for a page. */

const ROLES = [
  { role: 'hello', what: 'hello world' },
  { role: 'ssr', what: 'React page' },
] as const

export const CAPTION =
  'CPU time per request beyond bare node:http, in µs. One core, no proxy, 95 % intervals.'

export function formatMicroseconds(value: number): string {
  return Math.abs(value) < 10 ? value.toFixed(1) : String(Math.round(value))
}

/** One machine, on an axis of its own. */
export function extraCostChart(machine: Machine): DotChart {
  return {
    kind: 'dots',
    title: machine.title,
    caption: CAPTION,
    panels: ROLES.map(({ role, what }) => ({
      title: what,
      dots: extraCosts(machine, role).map(({ framework, ...cost }) => ({
        ...cost,
        name: framework,
        leads: false,
      })),
    })),
    columns: 2,
    axis: { label: 'extra µs per request', scale: 'linear', format: formatMicroseconds },
  }
}

/**
 * `AMD EPYC, 2 cores, 2026-11-24: a hello world costs 4.3 µs (3.6–5.3) more in Fastify and …`. Always the same two.
 */
export function describeExtraCost(machine: Machine): string {
  const sentences = ROLES.map(({ role, what }) => {
    const costs = extraCosts(machine, role)
    const of = (name: string) => {
      const cost = costs.find(({ framework }) => framework === name)
      if (cost === undefined) return 'an unknown time'
      const [value, low, high] = [cost.value, cost.low ?? cost.value, cost.high ?? cost.value].map(
        formatMicroseconds,
      )
      return `${value} µs (${low}–${high})`
    }
    const extras = HEADLINE.toReversed().map((name) => `${of(name)} more in ${findFramework(name).title}`)
    return `a ${what} costs ${extras.join(' and ')}`
  })
  return `${machine.title}: ${sentences.join(', ')}.`
}

const WIDTH = 380
const HEADING = 22

/** All machines as one image, for a README: its colours follow the reader's scheme. */
export function extraCostImage(machines: readonly Machine[]): string {
  let top = HEADING
  const rows = machines.map((machine) => {
    const drawings =
      drawDots(extraCostChart(machine))
        .toString()
        .match(/<svg.*?<\/svg>/gs) ?? []
    const heights = drawings.map((svg) => Number(/ height="(\d+)"/.exec(svg)?.[1]))
    const row = [
      text(0, top + HEADING, 'title', machine.title),
      ...drawings.flatMap((svg, index) => [
        text(index * WIDTH + 84, top + 2 * HEADING, 'panel', ROLES[index]?.what ?? ''),
        svg.replace(/<svg [^>]*?(?= viewBox)/, `<svg x="${index * WIDTH}" y="${top + 2.4 * HEADING}"`),
      ]),
    ]
    top += 3 * HEADING + Math.max(0, ...heights)
    return row.join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH} ${top}" width="${2 * WIDTH}" height="${top}" font-family="system-ui, sans-serif" font-size="12">
<style>
${STYLE}
</style>
${text(0, HEADING - 6, 'title', CAPTION)}
${rows.join('\n')}
</svg>
`
}

const STYLE = `svg { --dot: #57606a; color: #1b1f24; }
text { fill: currentColor; }
.title { font-weight: 600; }
@media (prefers-color-scheme: dark) { svg { --dot: #a3adb8; color: #e6e9ed; } }`

function text(x: number, y: number, name: string, words: string): string {
  return `<text x="${x}" y="${y}" class="${name}">${words}</text>`
}
