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
  const hint =
    suspect === null
      ? ''
      : `, most of it elsewhere. ${nameOf(suspect)}, takes ${told(suspect)}, and makes code slow that uses the object`
  const all = difference && `. ${describeDifference(difference)}${hint}`
  if (cause === null)
    return `No function is shown to take more or less CPU time per request: 0.3 µs, or 0.5 % of a request, would have to be above the noise${all ?? ''}`
  const { part, of } = cause
  // Names have commas.
  const isMixed = new Set(of.map(wordOf)).size > 1
  const format = isMixed ? signed : (value: number) => inMicros(Math.abs(value))
  const functions = of.map((one) => `${titleOf(one)} ${format(one.difference.value)}`)
  const where = of.length === 0 ? nameOf(part) : `${nameOf(part)} (${functions.join('; ')})`
  const first = `${told(part, ' µs')} ${wordOf(part)} per request are in ${where}`
  if (next === null) return `${first}${all ?? ''}`
  // A file or package has no name.
  const caller = part.name && `, called by ${part.name}`
  const called =
    caller && next.name.endsWith(caller)
      ? `${next.name.slice(0, -caller.length)}, called by it`
      : nameOf(next)
  const other = wordOf(next) === wordOf(part) ? '' : ` ${wordOf(next)}`
  return `${first}; next: ${called}, ${told(next)}${other}${all ?? ''}`
}

/** Functions may be known where the race is not: they are compared with nothing but themselves. */
function describeDifference(difference: Interval): string {
  const { low, high } = difference
  const is = told({ difference }, ' µs')
  if ((low ?? -1) < 0 && (high ?? 1) > 0) return `The race itself shows no difference in all: ${is}`
  return `The difference is ${is}${(high ?? 0) < 0 ? ' less' : ''} in all`
}

/** `2.3 (1.9–2.8)`: the sentence says whether that is more or less. */
function told({ difference }: Pick<Part, 'difference'>, unit = ''): string {
  const { value, low, high } = difference
  const isOpen = (low ?? -1) < 0 && (high ?? 1) > 0
  const isLess = !isOpen && value < 0
  const size = isLess ? { value: -value, low: -(high ?? 0), high: -(low ?? 0) } : difference
  return `${isOpen ? signed(value) : inMicros(size.value)}${unit} ${endsOf(size)}`
}

const wordOf = ({ difference }: Part) => (difference.value > 0 ? 'more' : 'less')

type Place = Pick<Part, 'name' | 'file' | 'line' | 'caller'>

const titleOf = ({ name, caller }: Place) => (caller ? `${name}, called by ${caller}` : name)

/** `qs/lib/parse.js`, `src/app.js:12` */
function placeOf({ file, line }: Place): string {
  return `${file.replace(/^node_modules\//, '')}${line === undefined ? '' : `:${line}`}`
}

function nameOf(part: Place): string {
  const place = placeOf(part)
  return part.name === '' || place === '' ? part.name || place : `${titleOf(part)} (${place})`
}

const inMicros = (seconds: number) => (seconds * 1e6).toFixed(1)

/** `(1.9–2.8)`, `(−2.8 to −1.9)` */
function endsOf({ low, high }: Interval, format = inMicros): string {
  if (low === null || high === null) return ''
  return low < 0 ? `(${signed(low, format)} to ${signed(high, format)})` : `(${format(low)}–${format(high)})`
}

function signed(value: number, format = inMicros): string {
  return `${value < 0 ? '−' : '+'}${format(Math.abs(value))}`
}

export function whySection(why: Why, profiles: readonly ProfiledStart[]): Section {
  const { before, after, race, rows, starts } = why
  return {
    title: `Why: own time per request, ${race}`,
    table: tableOf(
      rows,
      [
        left('µs of CPU', 0, titleOf),
        left('file', 1, placeOf),
        right(before, 2, (row) => inMicros(row.before)),
        right(after, 2, (row) => inMicros(row.after)),
        left('difference', 0, ({ difference }) => `${signed(difference.value)} ${endsOf(difference)}`),
      ],
      ({ isShown }) => (isShown ? 'best' : 'plain'),
    ),
    notes: [
      `Own time is that of a function and of the builtins that it calls: its part of the samples in ${plural(starts, 'pair')} of starts with a profiler, times what a request costs in the race.`,
      ...allocationNotes(why),
    ],
    picture: String(flameGraph(why, profiles)),
  }
}

function allocationNotes({ allocated }: Why): string[] {
  if (allocated === null) return []
  const { all, most } = allocated
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1)
  const where = most === null ? '' : `, most of it by ${nameOf(most)}`
  return [
    `Allocated per request, for the garbage collector to free: ${kilobytes(all.before)} and ${kilobytes(all.after)} kB, ${signed(all.difference.value, kilobytes)} ${endsOf(all.difference, kilobytes)}${where}.`,
  ]
}

const ROW = 18
/** Per cent of the width: narrower boxes cannot be seen, and narrower names not read. */
const LEAST_WIDTH = 0.1
const LEAST_NAME = 1.5
/** A difference of at least so many seconds per request may have the full colour: noise has none. */
const LEAST_FULL = 1e-6

/** The side after the change: what a function takes with all that it calls is its width, what it takes itself more or less than before its colour. */
function flameGraph(why: Why, profiles: readonly ProfiledStart[]): Markup {
  const { before, after, perSample } = why
  const pairs = pairsOf(profiles, why)
  const scaled = (side: 'before' | 'after') =>
    pairs.map((pair, index) => {
      const each = (perSample[index]?.[side] ?? 0) / pairs.length
      return pair[side === 'before' ? 0 : 1].tree.map((frame) => ({ ...frame, count: frame.count * each }))
    })
  const tree = mergeTrees(scaled('after'))
  // The same places first.
  const old = mergeTrees([tree.map((frame) => ({ ...frame, count: 0 })), ...scaled('before')])
  const boxes = boxesOf(tree).map((box, index) => ({ ...box, was: old[index]?.count ?? 0 }))
  const shown = boxes.filter(({ width }) => width >= LEAST_WIDTH)
  const full = Math.max(LEAST_FULL, ...shown.map(({ count, was }) => Math.abs(count - was)))
  const depth = Math.max(0, ...shown.map((one) => one.depth))
  const label = `Flame graph of ${after}: what a request costs by function, coloured by the difference to ${before}`
  return html`<figure class="flame">
<figcaption>${after}: width is time with all callees, red is own time that ${before} does not take, blue is less</figcaption>
<svg role="img" aria-label="${label}" width="100%" height="${depth * ROW}">
${shown.map(
  ({ count, was, whole, width, from, ...box }) =>
    html`<svg x="${from.toFixed(2)}%" y="${(depth - box.depth) * ROW}" width="${width.toFixed(2)}%" height="${ROW - 1}"><title>${nameOf({ name: box.name, file: box.file })}: ${inMicros(count)} µs per request itself, ${inMicros(was)} before; ${inMicros(whole)} with what it calls</title><rect width="100%" height="100%" class="${count > was ? 'more' : 'less'}" fill-opacity="${((0.45 * Math.abs(count - was)) / full).toFixed(2)}"/>${width >= LEAST_NAME && html`<text x="3" y="12">${box.name}</text>`}</svg>
`,
)}</svg>
</figure>`
}

/** Where frames are: callers come before what they call. From and width are per cent of all. */
function boxesOf(tree: Tree) {
  const boxes = tree.map((frame) => ({ ...frame, whole: frame.count, width: 0, from: 0, depth: 1, end: 0 }))
  const all = { whole: 0, from: 0, depth: 0, end: 0 }
  for (const box of boxes.toReversed()) (boxes[box.parent] ?? all).whole += box.whole
  for (const box of boxes) {
    const caller = boxes[box.parent] ?? all
    box.width = (100 * box.whole) / all.whole
    box.from = box.end = caller.end
    caller.end += box.width
    box.depth = caller.depth + 1
  }
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
