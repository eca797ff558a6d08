import { parseArgs } from 'node:util'
import { UsageError } from './arguments.ts'
import { insteadOf } from './gone.ts'
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
}

export type Table = Readonly<Record<string, Option<unknown>>>
export type Values<Options extends Table> = { [Name in keyof Options]: ReturnType<Options[Name]['read']> }

type Rules = Pick<Option<unknown>, 'short' | 'needs'>

export function flag(help: string, rules: Rules = {}): Option<boolean> {
  return { value: null, help, read: (words) => words.length > 0, ...rules }
}

export function texts(value: string, help: string, rules: Rules = {}): Option<readonly string[]> {
  return { value, help, read: (words) => words, ...rules }
}

/** Of several words the last one counts. */
function last<Value, Absent>(
  option: Pick<Option<unknown>, 'value' | 'help'> & Rules,
  parse: (word: string) => Value | undefined,
  { absent, must }: { absent: Absent; must: string },
): Option<Value | Absent> {
  return {
    ...option,
    read: (words, name) => {
      const word = words.at(-1)
      if (word === undefined) return absent
      const found = parse(word)
      if (found === undefined) throw new UsageError(`${name} is '${word}', but must be ${must}.`)
      return found
    },
  }
}

/** Any text. */
export function text(value: string, help: string, rules: Rules = {}): Option<string | undefined> {
  return last({ value, help, ...rules }, (word) => word, { absent: undefined, must: 'a text' })
}

interface Range extends Rules {
  min: number
  max: number
}

/** A whole number. */
export function integer(help: string, range: Range & { default: number }): Option<number>
export function integer(help: string, range: Range): Option<number | undefined>
export function integer(
  help: string,
  { min, max, default: absent, ...rules }: Range & { default?: number },
): Option<number | undefined> {
  const told = absent === undefined ? help : `${help} (default ${absent})`
  const parse = (word: string) =>
    /^\d{1,10}$/.test(word) && Number(word) >= min && Number(word) <= max ? Number(word) : undefined
  const must = `a whole number from ${min} to ${max}`
  return last({ value: 'N', help: told, ...rules }, parse, { absent, must })
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

/** `500ms`, `1.5s` or `10m`, in milliseconds. */
export function duration(
  help: string,
  { min, max = 600_000, ...rules }: Rules & { min: number; max?: number },
): Option<number | undefined> {
  const parse = (word: string) => {
    const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(word) ?? []
    const ms = Number(number) * (UNITS[unit] ?? Number.NaN)
    return ms >= min && ms <= max ? ms : undefined
  }
  const must = `a time from ${min}ms to ${max / 60_000}m, such as 2s`
  return last({ value: 'T', help, ...rules }, parse, { absent: undefined, must })
}

/** `3%`, as a part of 1. */
export function percent(help: string, rules: Rules = {}): Option<number | null> {
  const parse = (word: string) => {
    const [, number] = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/.exec(word) ?? []
    return Number(number) > 0 ? Number(number) / 100 : undefined
  }
  const must = 'a percentage above 0 % and below 100 %, such as 3%'
  return last({ value: 'P', help, ...rules }, parse, { absent: null, must })
}

/**
 * Reads a command line.
 * @param command as a person types it
 * @param most words that are no option
 * @throws {UsageError} in one sentence, if it does not understand a word, a value, or what is combined
 */
export function readCommandLine<Options extends Table>(
  args: readonly string[],
  options: Options,
  command: string,
  most = Number.POSITIVE_INFINITY,
): { values: Values<Options>; positionals: string[] } {
  const words = wordsOf(args, options, command)
  const extra = words.positionals[most]
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument '${extra}'. ${command} --help lists the options.`)
  for (const [name, { needs }] of Object.entries(options))
    if (name in words.values && needs !== undefined && !(needs in words.values))
      throw new UsageError(`--${name} goes with --${needs} alone.`)
  const values = Object.fromEntries(
    Object.entries(options).map(([name, { read }]) => [
      name,
      read((words.values[name] ?? []).map(String), `--${name}`),
    ]),
  )
  return { values: values as Values<Options>, positionals: words.positionals }
}

function wordsOf(args: readonly string[], options: Table, command: string) {
  const types = Object.entries(options).map(([name, { value, short }]) => {
    const type = value === null ? 'boolean' : 'string'
    return [name, { type, multiple: true, ...(short !== undefined && { short }) }]
  })
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types) as Record<string, { type: 'string'; multiple: true }>,
      allowPositionals: true,
    })
  } catch (error) {
    // Node's message, shortened to one sentence; of an option that is gone, what to use now.
    const { message } = error as Error
    const [, option] = /^Unknown option '(--?[\w-]+)/.exec(message) ?? []
    const reason = message.split('. ')[0]?.replace(/\.$/, '')
    const help = `${reason}. ${command} --help lists the options.`
    throw new UsageError(insteadOf(`${command} ${option}`) ?? help)
  }
}

/** The options of a table, a line or more for each, no wider than 80 columns. */
export function helpOf(options: Table): string {
  const rows = Object.entries(options).map(([name, { value, help, short }]) => ({
    words: `  ${short === undefined ? '' : `-${short}, `}--${name}${value === null ? '' : ` ${value}`}`,
    help,
  }))
  const indent = ' '.repeat(Math.max(...rows.map(({ words }) => words.length)) + 2)
  return rows.map(({ words, help }) => words + indented(help, indent, COLUMNS).slice(words.length)).join('\n')
}
