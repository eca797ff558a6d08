import { METHODS, validateHeaderName, validateHeaderValue } from 'node:http'
import type { Random } from '@startgrid/stats/random.ts'
import { requestBytes } from '@startgrid/wire/request.ts'
import { authority } from '@startgrid/wire/target.ts'
import { LoadError, type LoadPlan } from './plan.ts'

/** The requests of a load: one path or several, drawn at random, each of which may have random parts. */
export class Requests {
  /** Whether they ask the server to close the connection after its response. */
  readonly close: boolean
  readonly paths: number
  readonly #random: Random
  readonly #renders: readonly (() => Buffer)[]

  /** @throws {LoadError} if one of them cannot be sent */
  constructor(plan: Omit<LoadPlan, 'connections' | 'durationMs'>, random: Random) {
    const { target, path, method = 'GET', headers = {}, body, newConnections = false } = plan
    if (!METHODS.includes(method)) throw new LoadError(`${JSON.stringify(method)} is not an HTTP method.`)
    const own = Object.entries(headers)
    for (const header of own) validateHeader(...header)
    const asksToClose = own.some(([name, value]) => /^connection$/i.test(name) && /\bclose\b/i.test(value))
    this.close = newConnections || asksToClose
    if (this.close && !asksToClose) own.unshift(['connection', 'close'])
    const paths = typeof path === 'string' ? [path] : path
    this.paths = paths.length
    this.#random = random
    this.#renders = paths.map((text) => {
      const parts = text.split(/(\{[^{}]*\})/).map(readPart)
      const example = render(parts, () => 0)
      if (!/^\/[!-~]*$/.test(example))
        throw new LoadError(
          `The path ${JSON.stringify(example)} must begin with / and hold only visible ASCII characters.`,
        )
      const request = { method, target: example, headers: own, ...(body !== undefined && { body }) }
      const bytes = requestBytes(request, authority(target))
      if (parts.length === 1) return () => bytes
      const [before, after] = [
        bytes.subarray(0, method.length + 1),
        bytes.subarray(method.length + 1 + example.length),
      ]
      return () => Buffer.concat([before, Buffer.from(render(parts, random)), after])
    })
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

function validateHeader(name: string, value: string): void {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (error) {
    throw new LoadError(`${(error as Error).message}.`)
  }
}

/** A fixed piece of a path, or a whole number from one to the other, both ends included. */
type Part = string | readonly [least: number, most: number]

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
