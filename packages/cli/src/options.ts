import { parseArgs } from 'node:util'
import { notUnderstood, readDuration, readInteger, readPercent, UsageError } from './arguments.ts'
import { COLUMNS, indented } from './text.ts'

/** Options of a command as a table: what each is called, how its value is read, what it goes with, and what help says. */

export interface Option<Value> {
  /** What help calls its value; null for a flag. */
  readonly value: string | null
  readonly help: string
  /** @param words as they were given, in order; none if it is absent. @throws {UsageError} */
  read(words: readonly string[], name: string): Value
  readonly short?: string
  /** The option without which this one says nothing. */
  readonly needs?: string
  readonly excludes?: readonly string[]
}

export type Table = Readonly<Record<string, Option<unknown>>>
export type Values<Options extends Table> = { [Name in keyof Options]: ReturnType<Options[Name]['read']> }

type Rules = Pick<Option<unknown>, 'short' | 'needs' | 'excludes'>

export function flag(help: string, rules: Rules = {}): Option<boolean> {
  return { value: null, help, read: (words) => words.length > 0, ...rules }
}

/** Any text; the last one counts. */
export function text(value: string, help: string, rules: Rules = {}): Option<string | undefined> {
  return { value, help, read: (words) => words.at(-1), ...rules }
}

export function texts(value: string, help: string, rules: Rules = {}): Option<readonly string[]> {
  return { value, help, read: (words) => words, ...rules }
}

interface Range extends Rules {
  min: number
  max: number
}

export function integer(value: string, help: string, range: Range & { default: number }): Option<number>
export function integer(value: string, help: string, range: Range): Option<number | undefined>
export function integer(
  value: string,
  help: string,
  { min, max, default: usual, ...rules }: Range & { default?: number },
): Option<number | undefined> {
  const read = (words: readonly string[], name: string) => {
    const last = words.at(-1)
    return last === undefined ? usual : readInteger(name, last, min, max)
  }
  return { value, help: usual === undefined ? help : `${help} (default ${usual})`, read, ...rules }
}

/** In milliseconds. */
export function duration(
  help: string,
  { min, max, ...rules }: Rules & { min: number; max?: number },
): Option<number | undefined> {
  const read = (words: readonly string[], name: string) => {
    const last = words.at(-1)
    return last === undefined ? undefined : readDuration(name, last, min, max)
  }
  return { value: 'T', help, read, ...rules }
}

/** As a part of 1. */
export function percent(help: string, rules: Rules = {}): Option<number | null> {
  const read = (words: readonly string[], name: string) => {
    const last = words.at(-1)
    return last === undefined ? null : readPercent(name, last)
  }
  return { value: 'P', help, read, ...rules }
}

/**
 * Reads a command line.
 * @param command as a person types it
 * @throws {UsageError} in one sentence, if it does not understand a word, a value, or what is combined
 */
export function readCommandLine<Options extends Table>(
  args: readonly string[],
  options: Options,
  command: string,
): { values: Values<Options>; positionals: string[]; given: ReadonlySet<string> } {
  const words = wordsOf(args, options, command)
  const given = new Set(Object.keys(words.values))
  for (const [name, { needs, excludes = [] }] of Object.entries(options)) {
    if (!given.has(name)) continue
    if (needs !== undefined && !given.has(needs))
      throw new UsageError(`--${name} goes with --${needs} alone.`)
    const other = excludes.find((one) => given.has(one))
    if (other !== undefined) throw new UsageError(`--${name} and --${other} exclude each other.`)
  }
  const values = Object.fromEntries(
    Object.entries(options).map(([name, { read }]) => [
      name,
      read((words.values[name] ?? []).map(String), `--${name}`),
    ]),
  )
  return { values: values as Values<Options>, positionals: words.positionals, given }
}

function wordsOf(args: readonly string[], options: Table, command: string) {
  const types = Object.entries(options).map(([name, { value, short }]) => [
    name,
    {
      type: value === null ? 'boolean' : 'string',
      multiple: true,
      ...(short !== undefined && { short }),
    } as const,
  ])
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types) as Record<string, { type: 'string'; multiple: true }>,
      allowPositionals: true,
    })
  } catch (error) {
    throw notUnderstood(error, command)
  }
}

export function pick<Options extends Table>(
  options: Options,
  names: readonly (keyof Options & string)[],
): Table {
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
}

/** Where the text of an option begins. */
const INDENT = 22

/** The options of a table, a line or more for each, no wider than 80 columns. */
export function helpOf(options: Table): string {
  return Object.entries(options)
    .map(([name, { value, help, short }]) => {
      const shown = value === null ? '' : ` ${value}`
      const words = `  ${short === undefined ? '' : `-${short}, `}--${name}${shown}`
      const text = indented(help, ' '.repeat(INDENT), COLUMNS)
      return words.length < INDENT ? words.padEnd(INDENT) + text.trimStart() : `${words}\n${text}`
    })
    .join('\n')
}
