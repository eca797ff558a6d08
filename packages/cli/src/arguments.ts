import { parseDuration } from './duration.ts'
import { ForeseenError } from './foreseen-error.ts'
import { insteadOf } from './gone.ts'

/** The command line cannot be used as it was typed; the message is a sentence that says what to change. */
export class UsageError extends ForeseenError {
  override name = 'UsageError'
}

/** Node's message from `parseArgs`, shortened to one sentence; of an option that is gone, what to use now. */
export function notUnderstood(error: unknown, command: string): UsageError {
  const [, option] = /^Unknown option '(--?[\w-]+)/.exec(error instanceof Error ? error.message : '') ?? []
  const instead = option === undefined ? undefined : insteadOf(`${command} ${option}`)
  if (instead !== undefined) return new UsageError(instead)
  const reason = error instanceof Error ? error.message.split('. ')[0]?.replace(/\.$/, '') : String(error)
  return new UsageError(`${reason}. ${command} --help lists the options.`)
}

/** The names of a list such as `direct, nginx`. */
export function split(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}

/**
 * A whole number of at most ten digits.
 * @throws {UsageError} if the text is not a whole number from `min` to `max`
 */
export function readInteger(option: string, value: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${option} is '${value}', but must be a whole number from ${min} to ${max}.`)
}

/**
 * Milliseconds from `500ms`, `2s` or `10m`.
 * @throws {UsageError} if the text is not a duration from `min` to `max` milliseconds
 */
export function readDuration(option: string, value: string, min: number, max = 600_000): number {
  const ms = parseDuration(value) ?? Number.NaN
  if (ms >= min && ms <= max) return ms
  const example = max > 600_000 ? '90s or 10m' : '500ms or 2s'
  throw new UsageError(
    `${option} is '${value}', but must be a time from ${min}ms to ${max / 60_000}m, such as ${example}.`,
  )
}

/** `3%` as 0.03. @throws {UsageError} for anything but a percentage above 0 % and below 100 % */
export function readPercent(option: string, value: string): number {
  const [, number] = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/.exec(value) ?? []
  const part = number === undefined ? 0 : Number(number) / 100
  if (part > 0) return part
  throw new UsageError(
    `${option} is '${value}', but must be a percentage above 0 % and below 100 %, such as 3%.`,
  )
}
