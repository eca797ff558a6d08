import { LoadError } from '../engine/load-error.ts'
import type { ErrorKind } from '../report/result.ts'
import type { Matched } from './template.ts'

/** What a right response looks like. Plain data, so that it can be sent to another process. */
export interface Expectation {
  /** Default 200. Every response is held to it. */
  status?: number
  /** One for all paths, or one for each. Default: any body. */
  body?: BodyExpectation | readonly BodyExpectation[]
  /** How often content is compared: in the first response, and in about every n-th after it. Default 100; 1 is every response. */
  checkEvery?: number
}

/** All that is given must hold. A length (`bytes` implies one) is compared for every response, content for sampled ones. */
export interface BodyExpectation {
  /** The exact body, in base64. */
  bytes?: string
  length?: number
  /** Texts that the body contains, in UTF-8. */
  includes?: string[]
}

/** The expectation of exactly this body. */
export function exactly(body: string | Uint8Array): BodyExpectation {
  return { bytes: Buffer.from(body).toString('base64') }
}

/** Compares responses with an `Expectation`, and decides which ones have their content compared. */
export class Checker {
  readonly status: number
  /** By path; empty if any body will do. */
  readonly #bodies: readonly ExpectedBody[]
  readonly #every: number
  #untilCheck = 0

  /**
   * @param paths how many paths are asked for
   * @throws {LoadError} if the expectation contradicts itself or cannot be met
   */
  constructor(expectation: Expectation, method: string, paths = 1) {
    validate(expectation, method)
    this.status = expectation.status ?? 200
    this.#bodies = expectedBodies(expectation.body, paths)
    this.#every = expectation.checkEvery ?? 100
  }

  /**
   * Whether to compare the content of the next response. The distance between two samples is random, with `checkEvery` as its mean. With
   * a fixed distance, a periodic defect could always fall between samples.
   */
  sample(): boolean {
    if (this.#bodies.length === 0 || this.#untilCheck-- > 0) return false
    this.#untilCheck = Math.floor(Math.random() * (2 * this.#every - 1))
    return true
  }

  /** Makes the next request a sampled one. */
  restart(): void {
    this.#untilCheck = 0
  }

  /**
   * What is wrong with a response, or undefined.
   * @param body of a sampled response
   * @param path the path of the request
   */
  verdict({ status, bodyLength }: Matched, body: Buffer | undefined, path: number): ErrorKind | undefined {
    if (status !== this.status) return 'status'
    const expected = this.#bodies.length > 0 ? this.#bodies[path] : undefined
    if (expected === undefined) return undefined
    if (expected.length >= 0 && bodyLength !== expected.length) return 'body'
    return body === undefined || expected.hasContent(body) ? undefined : 'body'
  }
}

interface ExpectedBody {
  /** -1 if any length will do. */
  length: number
  hasContent(body: Buffer): boolean
}

function expectedBodies(body: Expectation['body'], paths: number): ExpectedBody[] {
  if (body === undefined) return []
  const list: readonly BodyExpectation[] = isList(body) ? body : new Array(paths).fill(body)
  if (list.length !== paths) {
    throw new LoadError(
      `There are ${paths} paths, but ${list.length} expected bodies: give one, or one for each.`,
    )
  }
  return list.map((one) => ({ length: expectedLength(one), hasContent: contentPredicate(one) }))
}

function isList(body: BodyExpectation | readonly BodyExpectation[]): body is readonly BodyExpectation[] {
  return Array.isArray(body)
}

function validate({ status = 200, checkEvery = 100, body }: Expectation, method: string): void {
  if (!Number.isInteger(status) || status < 200 || status > 999)
    throw new LoadError(`The expected status is ${status}, but must be a whole number from 200 to 999.`)
  if (!Number.isSafeInteger(checkEvery) || checkEvery < 1)
    throw new LoadError(`checkEvery is ${checkEvery}, but must be a whole number of at least 1.`)
  if (body !== undefined && method === 'HEAD')
    throw new LoadError('A response to HEAD has no body: expect a body of another method.')
}

function expectedLength(body: BodyExpectation): number {
  const { length = 0 } = body
  if (!Number.isSafeInteger(length) || length < 0)
    throw new LoadError(`The expected length is ${length}, but must be a whole number of bytes.`)
  const exact = body.bytes === undefined ? undefined : Buffer.byteLength(body.bytes, 'base64')
  if (exact !== undefined && body.length !== undefined && exact !== body.length) {
    throw new LoadError(`The expected body has ${exact} bytes, but its length is given as ${body.length}.`)
  }
  return exact ?? body.length ?? -1
}

function contentPredicate(expected: BodyExpectation): (body: Buffer) => boolean {
  const bytes = expected.bytes === undefined ? undefined : Buffer.from(expected.bytes, 'base64')
  const includes = (expected.includes ?? []).map((text) => Buffer.from(text))
  return (body) =>
    (bytes === undefined || body.equals(bytes)) && includes.every((part) => body.includes(part))
}
