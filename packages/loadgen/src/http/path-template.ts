import type { Random } from '@startgrid/stats/random.ts'
import { LoadError } from '../engine/load-error.ts'

/** A fixed piece, or a whole number from one to the other, both ends included. */
type Part = string | readonly [least: number, most: number]

/** A path with random parts in braces: `{int:1-1000}` is a whole number in that range, drawn anew for each request, uniformly. */
export class PathTemplate {
  /** Whether it has no random part. */
  readonly isFixed: boolean
  readonly #parts: readonly Part[]

  /** @throws {LoadError} if a brace is part of anything else */
  constructor(text: string) {
    this.#parts = text.split(/(\{[^{}]*\})/).map(readPart)
    this.isFixed = this.#parts.every((part) => typeof part === 'string')
  }

  /** One path of the kind. */
  get example(): string {
    return this.render(() => 0)
  }

  render(random: Random): string {
    let path = ''
    for (const part of this.#parts)
      path += typeof part === 'string' ? part : part[0] + Math.floor(random() * (part[1] - part[0] + 1))
    return path
  }
}

function readPart(text: string): Part {
  if (!/[{}]/.test(text)) return text
  const [, from, to] = /^\{int:(\d{1,15})-(\d{1,15})\}$/.exec(text) ?? []
  if (Number(from) <= Number(to)) return [Number(from), Number(to)]
  throw new LoadError(
    `${text} is not a random part: write {int:1-1000}, and %7B and %7D for braces that are meant as such.`,
  )
}
