import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { pairsOf } from '../judge/why.ts'
import { mergeTrees, type Part, type ProfiledStart, type Tree, type Why } from '../result/profile.ts'
import type { Result } from '../result/result.ts'
import type { Section } from './document.ts'
import { html, type Markup } from './html/markup.ts'

/** Which functions account for a difference, as a sentence, a table, a picture and files for other tools. */

/** `2.3 µs (1.9–2.8) more per request are in readCookies (src/cookies.js); next: split, called by it, 0.6 (0.4–0.8). The difference is …` */
export function describeWhy({ cause, next, difference, suspect }: Why): string {
  const slows =
    suspect === null
      ? ''
      : `, most of it elsewhere. What makes many functions slow at once: setPrototypeOf, called by ${nameOf(suspect)} ${suspect.perRequest.toFixed(1)} times per request`
  const all = difference === null ? '' : `. The difference is ${describeChange(difference)} in all${slows}`
  if (cause === null)
    return `No function is shown to take more or less CPU time per request: 0.3 µs, or 0.5 % of a request, would have to be above the noise${all}`
  const { part, of } = cause
  const told = ({ difference: { value } }: Part) => inMicros(Math.abs(value))
  const word = ({ difference: { value } }: Part) => (value > 0 ? 'more' : 'less')
  const functions = of.map((one) => `${one.name} ${told(one)}`).join(', ')
  const where = functions === '' ? nameOf(part) : `${nameOf(part)}: ${functions}`
  const first = `${told(part)} µs ${endsOf(part.difference)} ${word(part)} per request are in ${where}`
  if (next === null) return `${first}${all}`
  const called = next.name.replace(`, called by ${part.name}`, ', called by it')
  const other = word(next) === word(part) ? '' : ` ${word(next)}`
  return `${first}; next: ${called === next.name ? nameOf(next) : called}, ${told(next)} ${endsOf(next.difference)}${other}${all}`
}

type Place = Pick<Part, 'name' | 'file' | 'line'>

/** `qs/lib/parse.js`, `src/app.js:12` */
function placeOf({ file, line }: Place): string {
  return `${file.replace(/^node_modules\//, '')}${line === undefined ? '' : `:${line}`}`
}

function nameOf(part: Place): string {
  const place = placeOf(part)
  return part.name === '' || place === '' ? part.name || place : `${part.name} (${place})`
}

const inMicros = (seconds: number) => (seconds * 1e6).toFixed(1)

/** `(1.9–2.8)`, without a sign where all of it has that of the value. */
function endsOf({ low, high }: Interval, format = inMicros): string {
  if (low === null || high === null) return ''
  if (low < 0 && high > 0) return `(${signed(low, format)} to ${signed(high, format)})`
  const [from = 0, to = 0] = [Math.abs(low), Math.abs(high)].sort((a, b) => a - b)
  return `(${format(from)}–${format(to)})`
}

function signed(value: number, format = inMicros): string {
  return `${value < 0 ? '−' : '+'}${format(Math.abs(value))}`
}

function describeChange(difference: Interval): string {
  const { value, low, high } = difference
  if ((low ?? -1) < 0 && (high ?? 1) > 0) return `${signed(value)} µs ${endsOf(difference)}`
  return `${inMicros(Math.abs(value))} µs ${endsOf(difference)}${value < 0 ? ' less' : ''}`
}

export function whySection(why: Why, profiles: readonly ProfiledStart[]): Section {
  const { before, after, race, rows, starts } = why
  const [first, second] = [sum(rows.map((one) => one.before)), sum(rows.map((one) => one.after))]
  return {
    title: `Why: own time per request, ${race}`,
    table: tableOf(
      rows,
      [
        left('µs of CPU', 0, ({ name }) => name),
        left('file', 1, placeOf),
        right(before, 2, (row) => inMicros(row.before)),
        right(after, 2, (row) => inMicros(row.after)),
        left('difference', 0, ({ difference }) => `${signed(difference.value)} ${endsOf(difference)}`),
      ],
      ({ isShown }) => (isShown ? 'best' : 'plain'),
    ),
    notes: [
      `Own time is that of a function and of the builtins that it calls. Rows add up to the ${inMicros(first)} and ${inMicros(second)} µs that a request costs in ${plural(starts, 'pair')} of starts with a profiler; how large the difference is, the race says.`,
      ...allocationNotes(why),
    ],
    picture: String(flameGraph(why, profiles)),
  }
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)

function allocationNotes({ allocated }: Why): string[] {
  if (allocated === null) return []
  const { all, most } = allocated
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1)
  const where = most === null ? '' : `, most in ${nameOf(most)}`
  return [
    `Allocated per request: ${kilobytes(all.before)} and ${kilobytes(all.after)} kB, ${signed(all.difference.value, kilobytes)} ${endsOf(all.difference, kilobytes)}${where}.`,
  ]
}

interface Box {
  title: string
  name: string
  depth: number
  /** Parts of the width, 0 to 100. */
  from: number
  width: number
  /** Own seconds per request more than before. */
  more: number
}

const ROW = 18
/** Parts of the width: narrower boxes cannot be seen, and narrower names not read. */
const LEAST_WIDTH = 0.1
const LEAST_NAME = 1.5
/** A difference of at least so many seconds per request may have the full colour: noise has none. */
const LEAST_FULL = 1e-6

/** The side after the change: what a function takes with all that it calls is its width, what it takes itself more or less than before its colour. */
function flameGraph(why: Why, profiles: readonly ProfiledStart[]): Markup {
  const { before, after, perSample } = why
  const pairs = pairsOf(profiles, why)
  const scaled = (side: 0 | 1) =>
    pairs.map((pair, index) => {
      const { before: first = 0, after: second = 0 } = perSample[index] ?? {}
      const each = (side === 0 ? first : second) / pairs.length
      return pair[side].tree.map((frame) => ({ ...frame, count: frame.count * each }))
    })
  const tree = mergeTrees(scaled(1))
  // The same places first.
  const old = mergeTrees([tree.map((frame) => ({ ...frame, count: 0 })), ...scaled(0)])
  const boxes = boxesOf(tree, old)
  const full = Math.max(LEAST_FULL, ...boxes.map(({ more }) => Math.abs(more)))
  const depth = 1 + Math.max(0, ...boxes.map((one) => one.depth))
  const told = `Flame graph of ${after}: what a request costs by function, coloured by the difference to ${before}`
  return html`<figure class="flame">
<figcaption>${after}: width is time with all callees, red is own time that ${before} does not take, blue is less</figcaption>
<svg role="img" aria-label="${told}" width="100%" height="${depth * ROW}">
${boxes.map(
  ({ title, name, depth: row, from, width, more }) =>
    html`<svg x="${from.toFixed(2)}%" y="${(depth - 1 - row) * ROW}" width="${width.toFixed(2)}%" height="${ROW - 1}"><title>${title}</title><rect width="100%" height="100%" class="${more > 0 ? 'more' : 'less'}" fill-opacity="${((0.45 * Math.abs(more)) / full).toFixed(2)}"/>${width >= LEAST_NAME && html`<text x="3" y="12">${name}</text>`}</svg>
`,
)}</svg>
</figure>`
}

function boxesOf(tree: Tree, old: Tree): Box[] {
  const totals = tree.map(({ count }) => count)
  for (const [index, { parent }] of [...tree.entries()].toReversed())
    if (parent >= 0) totals[parent] = (totals[parent] ?? 0) + (totals[index] ?? 0)
  const all = sum(tree.map(({ count }) => count))
  const children = Map.groupBy(tree.keys(), (index) => tree[index]?.parent ?? -1)
  const boxes: Box[] = []
  const place = (parent: number, from: number, depth: number) => {
    let at = from
    for (const index of children.get(parent) ?? []) {
      const [frame, whole = 0] = [tree[index], totals[index]]
      const width = (100 * whole) / all
      if (frame === undefined || width < LEAST_WIDTH) continue
      const { name, file, count } = frame
      const was = old[index]?.count ?? 0
      const title = `${nameOf({ name, file })}: ${inMicros(count)} µs per request itself, ${inMicros(was)} before; ${inMicros(whole)} with what it calls`
      boxes.push({ title, name, depth, from: at, width, more: count - was })
      place(index, at, depth + 1)
      at += width
    }
  }
  place(-1, 0, 0)
  return boxes
}

/** For Chrome's tools and speedscope, by name. */
export function profileFiles({ analysis, profiles = [] }: Result): Map<string, string> {
  const files = new Map<string, string>()
  for (const [index, why] of (analysis?.whys ?? []).entries())
    for (const [side, name] of ['before', 'after'].entries()) {
      const trees = pairsOf(profiles, why).map((pair) => pair[side]?.tree ?? [])
      const ending = index === 0 ? '' : `-${index + 1}`
      files.set(`profile-${name}${ending}.cpuprofile`, JSON.stringify(cpuProfileOf(mergeTrees(trees))))
    }
  return files
}

/** Microseconds of a sample: they are counted. */
const SAMPLE = 250

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
function cpuProfileOf(tree: Tree) {
  const rows = [{ name: '(root)', file: '', line: 0, count: 0 }, ...tree]
  const children = Map.groupBy(tree.keys(), (index) => (tree[index]?.parent ?? -1) + 1)
  const samples = rows.flatMap(({ count }, index) => Array<number>(count).fill(index + 1))
  return {
    nodes: rows.map(({ name, file, line, count }, index) => ({
      id: index + 1,
      callFrame: {
        functionName: name === '(anonymous)' ? '' : name,
        scriptId: '0',
        url: file,
        lineNumber: line - 1,
        columnNumber: 0,
      },
      hitCount: count,
      children: (children.get(index) ?? []).map((child) => child + 2),
    })),
    startTime: 0,
    endTime: samples.length * SAMPLE,
    samples,
    timeDeltas: samples.map(() => SAMPLE),
  }
}
