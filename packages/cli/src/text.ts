import { styleText } from 'node:util'
import { ForeseenError } from './arguments.ts'

/** Sentences and columns for people. */

/** Widest line of a table or a report. */
export const COLUMNS = 80

/**
 * Breaks a text at spaces so that lines fit the columns; later lines are indented. Longer words are not broken, and a percent
 * sign stays with its number.
 */
export function wrap(text: string, indent = '', columns = COLUMNS): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/ (?!%)/)) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = `${indent}${word}`
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join('\n')
}

/** A paragraph whose lines all start with the indent. */
export function indented(text: string, indent: string, columns = COLUMNS): string {
  return indent + wrap(text, '', columns - indent.length).replaceAll('\n', `\n${indent}`)
}

/**
 * A message without its details and its full stop: the first line. If that is a path in a source file, the error that Node prints some
 * lines below is used instead. What we foresee is said whole, because advice comes last.
 */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const [first = '', ...others] = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const thrown = others.find((line) => /^\w*Error\b/.test(line))
  const line = thrown === undefined ? first : first.replace(/\S+:\d+$/, () => thrown)
  return (error instanceof ForeseenError ? line : line.slice(0, 300)).replace(/\.$/, '')
}

/** `3 rounds`, `1 round` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const LIST = new Intl.ListFormat('en-GB', { type: 'conjunction' })

/** `a`, `a and b`, `a, b and c` */
export function listOf(names: Iterable<string>): string {
  return LIST.format(names)
}

/** Those that apply: `[isLate && 'It is late.']` has none if it is not. */
export function present<Item>(items: readonly (Item | false | null | undefined)[]): Item[] {
  return items.filter((one) => one !== false && one !== null && one !== undefined) as Item[]
}

/** No longer than so many columns. */
export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
}

/** The first letter as a capital. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export type Format = Parameters<typeof styleText>[0]

/** Colour on a terminal. It only repeats what the text says.
 * @returns a function that formats line by line, because pagers cut lines. Without colour or format, the text stays unchanged */
export function painter(color: boolean): (format: Format | null, text: string) => string {
  return (format, text) => {
    if (!color || format === null || text === '') return text
    const lines = text.split('\n').map((line) => styleText(format, line, { validateStream: false }))
    return lines.join('\n')
  }
}
