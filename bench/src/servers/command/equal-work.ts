import { listOf } from '@startgrid/cli/text.ts'
import { type BodyExpectation, exactly } from '@startgrid/loadgen/expectation.ts'
import { diffArrays } from 'diff'

/** Do two servers send the same? What differs between responses of the same server, such as an id or a date, does not count. */

/** What all responses of one server have in common; null stands for what differs between them. */
type Template = readonly (string | null)[]

export interface Learnt {
  template: Template
  /** Part of the bytes that differ between responses of this server, 0 to 1. */
  masked: number
}

/** What is left of more different responses proves little. */
export const MOST_MASKED = 0.2

/** What a server sends beside its bodies. */
export interface Head {
  title: string
  /** Names of headers, in lower case. */
  names: readonly string[]
  /** Of a whole response. */
  bytes: number
  /** It closes each connection after its response. */
  closes: boolean
}

/** Part by which bytes may differ: ids are not always of one length. */
const BYTES_WITHIN = 0.05

/** What is not equal work although bodies are the same, a sentence each. */
export function unequalHeads(heads: readonly Head[]): string[] {
  const [first, ...others] = heads
  const closing = heads
    .filter(({ closes }) => closes)
    .map(
      ({ title }) =>
        `${title} closes each connection after its response: to open one for every request is part of what it costs.`,
    )
  const unequal = others.flatMap((other) => {
    if (first === undefined) return []
    const lacking = (one: Head, two: Head) => {
      const names = one.names.filter((name) => !two.names.includes(name))
      return names.length === 0 ? [] : [`${one.title} alone sends ${listOf(names)}`]
    }
    const names = [...lacking(first, other), ...lacking(other, first)]
    const isLonger = Math.abs(Math.log(other.bytes / first.bytes)) > BYTES_WITHIN
    if (names.length === 0 && !isLonger) return []
    const bytes = `a response of ${first.title} has ${first.bytes} bytes with its headers, one of ${other.title} ${other.bytes}`
    return `${[...names, bytes].join('; ')}: that is part of any difference.`
  })
  return [...closing, ...unequal]
}

/**
 * @param bodies several responses of one server to the same request
 * @param known what was learnt of earlier ones
 */
export function learn(bodies: readonly Buffer[], known?: Learnt): Learnt {
  const [first = [], ...others] = [...(known ? [known.template] : []), ...bodies.map(tokensOf)]
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
    const left = one.slice(a, i)
    const right = other.slice(b, j)
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

/** With more differences, all of it counts as different. */
const MOST_EDITS = 1000

/** Pairs of places with the same token, in order: a longest common subsequence. What is masked equals nothing. */
function matchesOf(one: Template, other: Template): (readonly [number, number])[] {
  const comparator = (a: string | null, b: string | null) => a !== null && a === b
  const changes = diffArrays([...one], [...other], { comparator, maxEditLength: MOST_EDITS })
  const matches: [number, number][] = []
  let [i, j] = [0, 0]
  for (const { count, added, removed } of changes ?? []) {
    if (!(added || removed)) for (let k = 0; k < count; k++) matches.push([i + k, j + k])
    if (!added) i += count
    if (!removed) j += count
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
