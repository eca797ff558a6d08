import type { Random } from '@startgrid/stats/random.ts'
import { LoadError } from '../engine/load-error.ts'

/** A fixed piece, or what draws a random one. */
type Part = string | ((random: Random) => string)

const SYNTAX =
  'write {int:1-1000}, {hex:8} or {pick:a|b|c}, and %7B and %7D for braces that are meant as such'

/**
 * A path with random parts in braces: `{int:1-1000}` is a whole number in that range, both ends included; `{hex:8}` so many
 * hexadecimal digits; `{pick:a|b|c}` one of these texts. Each is drawn anew for each request, uniformly.
 */
export class PathTemplate {
  /** Whether it has no random part. */
  readonly isFixed: boolean
  readonly #parts: readonly Part[]

  /** @throws {LoadError} if a part in braces is none of these */
  constructor(text: string) {
    this.#parts = text
      .split(/(\{[^{}]*\})/)
      .map((part, n) => (n % 2 === 0 ? literal(part) : randomPart(part)))
    this.isFixed = this.#parts.every((part) => typeof part === 'string')
  }

  /** One path of the kind. */
  get example(): string {
    return this.render(() => 0)
  }

  render(random: Random): string {
    let path = ''
    for (const part of this.#parts) path += typeof part === 'string' ? part : part(random)
    return path
  }
}

function literal(text: string): string {
  if (!/[{}]/.test(text)) return text
  throw new LoadError(`A brace is alone in ${JSON.stringify(text)}: ${SYNTAX}.`)
}

function randomPart(text: string): Part {
  const [, kind = '', argument = ''] = /^\{(\w+):(.+)\}$/.exec(text) ?? []
  const part = kind === 'int' ? int(argument) : kind === 'hex' ? hex(argument) : pick(kind, argument)
  if (part === undefined) throw new LoadError(`${text} is not a random part: ${SYNTAX}.`)
  return part
}

function int(range: string): Part | undefined {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(range) ?? []
  const [least, most] = [Number(from), Number(to)]
  if (!(least <= most)) return undefined
  return (random) => String(least + Math.floor(random() * (most - least + 1)))
}

function hex(digits: string): Part | undefined {
  if (!/^[1-9]\d?$/.test(digits)) return undefined
  const count = Number(digits)
  return (random) => {
    let text = ''
    // 32 random bits at a time.
    while (text.length < count)
      text += Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return text.slice(0, count)
  }
}

function pick(kind: string, list: string): Part | undefined {
  const choices = list.split('|')
  if (kind !== 'pick' || !choices.every((choice) => /^[!-~]+$/.test(choice))) return undefined
  return (random) => choices[Math.floor(random() * choices.length)] as string
}
