import type { Random } from '@startgrid/stats/random.ts'
import { type RequestOptions, requestParts } from '../http/request.ts'
import { LoadError } from './load-error.ts'

export interface RequestsOptions extends Omit<RequestOptions, 'path'> {
  /** As of `LoadPlan`. */
  path: string | readonly string[]
}

/** The requests of a load: one path or several, drawn at random, each of which may have random parts. */
export class Requests {
  readonly paths: number
  readonly #random: Random
  readonly #renders: readonly (() => Buffer)[]

  /** @throws {LoadError} if one of them cannot be sent */
  constructor({ path, ...options }: RequestsOptions, random: Random) {
    const paths = typeof path === 'string' ? [path] : path
    this.paths = paths.length
    this.#random = random
    this.#renders = paths.map((text) => rendering(text, options, random))
  }

  /** Draws a path. @returns its place in the list */
  draw(): number {
    return this.paths === 1 ? 0 : Math.floor(this.#random() * this.paths)
  }

  /** The bytes of a request for this path; always the same unless the path has random parts. */
  bytes(path: number): Buffer {
    const render = this.#renders[path] as () => Buffer
    return render()
  }
}

/** A fixed piece of a path, or a whole number from one to the other, both ends included. */
type Part = string | readonly [least: number, most: number]

function rendering(text: string, options: Omit<RequestOptions, 'path'>, random: Random): () => Buffer {
  const parts = text.split(/(\{[^{}]*\})/).map(readPart)
  const { before, after } = requestParts({ ...options, path: render(parts, () => 0) })
  const bytes = () => Buffer.from(`${before}${render(parts, random)}${after}`, 'latin1')
  if (parts.length > 1) return bytes
  const fixed = bytes()
  return () => fixed
}

function render(parts: readonly Part[], random: Random): string {
  let path = ''
  for (const part of parts)
    path += typeof part === 'string' ? part : part[0] + Math.floor(random() * (part[1] - part[0] + 1))
  return path
}

function readPart(text: string): Part {
  if (!/[{}]/.test(text)) return text
  const [, from, to] = /^\{int:(\d{1,15})-(\d{1,15})\}$/.exec(text) ?? []
  if (Number(from) <= Number(to)) return [Number(from), Number(to)]
  throw new LoadError(
    `${text} is not a random part: write {int:1-1000}, and %7B and %7D for braces that are meant as such.`,
  )
}
