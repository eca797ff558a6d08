import { type BodyExpectation, exactly } from '@startgrid/loadgen'

/** Do two servers send the same? What differs between responses of the same server, such as an id or a date, does not count. */

/** What all responses of one server have in common; null stands for what differs between them. */
export type Template = readonly (string | null)[]

export interface Learnt {
  template: Template
  /** Part of the bytes that differ between responses of this server, 0 to 1. */
  masked: number
}

/** What is left of more different responses proves little. */
export const MOST_MASKED = 0.2

/** @param bodies several responses of one server to the same request */
export function learn(bodies: readonly Buffer[]): Learnt {
  const [first = [], ...others] = bodies.map(tokensOf)
  const template = others.reduce<Template>((common, other) => commonOf(common, other), first)
  const kept = template.reduce((sum, token) => sum + (token?.length ?? 0), 0)
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length
  return { template, masked: bytes === 0 ? 0 : 1 - kept / bytes }
}

/** Where two servers first differ: what each sends there, with what stands before it. */
export interface Difference {
  before: string
  one: string
  other: string
}

/** @returns undefined if they send the same, but for what differs between responses of either */
export function differenceOf(one: Template, other: Template): Difference | undefined {
  const matches = matchesOf(one, other)
  let [a, b] = [0, 0]
  for (const [i, j] of [...matches, [one.length, other.length] as const]) {
    const [left, right] = [one.slice(a, i), other.slice(b, j)]
    if (!isMasked(left, right) || !isMasked(right, left))
      return { before: textOf(one.slice(0, a)).slice(-40), one: shorten(left), other: shorten(right) }
    ;[a, b] = [i + 1, j + 1]
  }
  return undefined
}

/** What is always the same in one stands for what differs in the other, and for nothing else. */
function isMasked(stretch: Template, by: Template): boolean {
  const isLiteral = (token: string | null) => token !== null
  return !stretch.some(isLiteral) || (by.includes(null) && !by.some(isLiteral))
}

/**
 * What is compared under load: all of it if nothing is masked, else the parts that are always the same. Not the length: that five random ids have
 * the same one says nothing of the next.
 */
export function expectationOf({ template }: Learnt): BodyExpectation {
  if (!template.includes(null)) return exactly(Buffer.from(template.join(''), 'latin1'))
  const includes = piecesOf(template)
    .filter((piece) => Buffer.from(piece, 'latin1').equals(Buffer.from(decode(piece))))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MOST_PIECES)
    .map(decode)
  return includes.length > 0 ? { includes } : {}
}

/** Searching a response for many parts would take the generator's time. */
const MOST_PIECES = 5

/** Runs of what ids, dates, numbers and encoded values are made of, and single other bytes. One character is one byte. */
function tokensOf(body: Buffer): string[] {
  return body.toString('latin1').match(/[\w+/=.:%~-]+|[^\w+/=.:%~-]/g) ?? []
}

function commonOf(template: Template, other: Template): Template {
  const common: (string | null)[] = []
  let [a, b] = [0, 0]
  for (const [i, j] of [...matchesOf(template, other), [template.length, other.length] as const]) {
    if ((i > a || j > b) && common.at(-1) !== null) common.push(null)
    const token = template[i]
    if (token !== undefined) common.push(token)
    ;[a, b] = [i + 1, j + 1]
  }
  return common
}

/** Beyond so many differences, what lies between the common ends counts as different. */
const MOST_EDITS = 1000

/**
 * Pairs of places with the same token, in order: a longest common subsequence (Myers 1986, Algorithmica 1:251). What is masked equals
 * nothing.
 */
function matchesOf(one: Template, other: Template): (readonly [number, number])[] {
  const same = (i: number, j: number) => one[i] !== null && one[i] === other[j]
  const least = Math.min(one.length, other.length)
  let start = 0
  while (start < least && same(start, start)) start++
  let end = 0
  while (end < least - start && same(one.length - 1 - end, other.length - 1 - end)) end++
  const [n, m] = [one.length - start - end, other.length - start - end]
  const head = Array.from({ length: start }, (_, index) => [index, index] as const)
  const tail = Array.from({ length: end }, (_, index) => [start + n + index, start + m + index] as const)
  const middle = editsOf(n, m, (i, j) => same(start + i, start + j))
  return [...head, ...middle.map(([i, j]) => [start + i, start + j] as const), ...tail]
}

function editsOf(
  n: number,
  m: number,
  same: (i: number, j: number) => boolean,
): (readonly [number, number])[] {
  const furthest = new Map([[1, 0]])
  const trace: Map<number, number>[] = []
  for (let edits = 0; edits <= Math.min(n + m, MOST_EDITS); edits++) {
    trace.push(new Map(furthest))
    for (let k = -edits; k <= edits; k += 2) {
      let i = startOf(furthest, k, edits)
      while (i < n && i - k < m && same(i, i - k)) i++
      furthest.set(k, i)
      if (i >= n && i - k >= m) return walkBack(trace, n, m)
    }
  }
  return []
}

/** Where the diagonal `k` = i − j begins: one step down or right from the furthest place of a neighbour. */
function startOf(furthest: ReadonlyMap<number, number>, k: number, edits: number): number {
  const [left, right] = [furthest.get(k - 1) ?? -1, furthest.get(k + 1) ?? -1]
  return k === -edits || (k !== edits && left < right) ? right : left + 1
}

function walkBack(
  trace: readonly ReadonlyMap<number, number>[],
  n: number,
  m: number,
): (readonly [number, number])[] {
  const matches: (readonly [number, number])[] = []
  let [i, j] = [n, m]
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const furthest = trace[edits] ?? new Map<number, number>()
    const k = i - j
    const [left, right] = [furthest.get(k - 1) ?? -1, furthest.get(k + 1) ?? -1]
    const isDown = k === -edits || (k !== edits && left < right)
    const from = isDown ? right : left
    const begin = isDown ? from : from + 1
    while (i > begin && j > 0 && i > 0) matches.unshift([--i, --j])
    if (edits > 0) [i, j] = [from, from - (isDown ? k + 1 : k - 1)]
  }
  return matches
}

/** The stretches between what is masked. */
function piecesOf(template: Template): string[] {
  const pieces: string[] = []
  for (let from = 0; from < template.length; from++) {
    const end = template.indexOf(null, from)
    pieces.push(template.slice(from, end < 0 ? undefined : end).join(''))
    from = end < 0 ? template.length : end
  }
  return pieces.filter((piece) => piece !== '')
}

function textOf(template: Template): string {
  return decode(template.map((token) => token ?? '…').join(''))
}

function shorten(template: Template): string {
  const text = textOf(template)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function decode(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}
