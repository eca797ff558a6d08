import type { Random } from '@startgrid/stats/random.ts'
import { PathTemplate } from '../http/path-template.ts'
import { type RequestOptions, requestParts } from '../http/request.ts'
import { LoadError } from './load-error.ts'

/** The requests of a load: one path or several, drawn at random, each of which may have random parts. */
export class Requests {
  readonly paths: number
  readonly #random: Random
  readonly #renders: readonly (() => Buffer)[]

  /** @throws {LoadError} if one of them cannot be sent */
  constructor({ path, ...options }: RequestsOptions, random: Random) {
    const paths = typeof path === 'string' ? [path] : path
    if (paths.length === 0) throw new LoadError('There is no path: name at least one.')
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

export interface RequestsOptions extends Omit<RequestOptions, 'path'> {
  path: string | readonly string[]
}

function rendering(text: string, options: Omit<RequestOptions, 'path'>, random: Random): () => Buffer {
  const template = new PathTemplate(text)
  const { before, after } = requestParts({ ...options, path: template.example })
  if (template.isFixed) {
    const bytes = Buffer.from(`${before}${text}${after}`, 'latin1')
    return () => bytes
  }
  return () => Buffer.from(`${before}${template.render(random)}${after}`, 'latin1')
}
