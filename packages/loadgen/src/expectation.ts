import { createHash } from 'node:crypto'
import { LoadError } from './load-error.ts'

/** What a right answer looks like. Plain data, so that it can be sent to another process. */
export interface Expectation {
  /** Default 200. Every answer is held to it. */
  status?: number
  /** Default: any body. */
  body?: BodyExpectation
  /** The first answer and about every n-th after it have their content compared; default 100, 1 is every answer. */
  checkEvery?: number
}

/** All that is given must hold. A length (`bytes` implies one) is compared for every answer, content for sampled ones. */
export interface BodyExpectation {
  /** The exact body, in base64. */
  bytes?: string
  length?: number
  /** Of the body, in hexadecimal. */
  sha256?: string
  /** Texts that the body contains, in UTF-8. */
  includes?: string[]
}

/** The expectation of exactly this body. */
export function exactly(body: string | Uint8Array): BodyExpectation {
  return { bytes: Buffer.from(body).toString('base64') }
}

/** Compares answers with an `Expectation`, and decides which ones have their content compared. */
export class Checker {
  readonly status: number
  /** -1 if any length will do. */
  readonly #length: number
  readonly #content: ((body: Buffer) => boolean) | undefined
  readonly #every: number
  #untilCheck = 0

  /** @throws {LoadError} if the expectation contradicts itself or cannot be met */
  constructor(expectation: Expectation, method: string) {
    validate(expectation, method)
    this.status = expectation.status ?? 200
    this.#length = expectedLength(expectation.body)
    this.#content = contentPredicate(expectation.body)
    this.#every = expectation.checkEvery ?? 100
  }

  /**
   * Whether the next request's answer is to have its content compared. The distance between two samples is random with
   * `checkEvery` as its mean: a fixed one never sees a defect that has a period which divides it.
   */
  sample(): boolean {
    if (this.#content === undefined || this.#untilCheck-- > 0) return false
    this.#untilCheck = Math.floor(Math.random() * (2 * this.#every - 1))
    return true
  }

  /** Makes the next request a sampled one. */
  restart(): void {
    this.#untilCheck = 0
  }

  /** Whether an answer's body has the right length, as far as one is expected. */
  hasLength(length: number): boolean {
    return this.#length < 0 || length === this.#length
  }

  /** Whether a sampled body has the right content. */
  hasContent(body: Buffer): boolean {
    return this.#content === undefined || this.#content(body)
  }
}

function validate(expectation: Expectation, method: string): void {
  const { status = 200, checkEvery = 100, body } = expectation
  if (!Number.isInteger(status) || status < 200 || status > 999) {
    throw new LoadError(`The expected status is ${status}, but must be a whole number from 200 to 999.`)
  }
  if (!Number.isSafeInteger(checkEvery) || checkEvery < 1) {
    throw new LoadError(`checkEvery is ${checkEvery}, but must be a whole number of at least 1.`)
  }
  if (body !== undefined && method === 'HEAD') {
    throw new LoadError('An answer to HEAD has no body: expect a body of another method.')
  }
  if (body?.length !== undefined && !(Number.isSafeInteger(body.length) && body.length >= 0)) {
    throw new LoadError(`The expected length is ${body.length}, but must be a whole number of bytes.`)
  }
  if (body?.sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(body.sha256)) {
    throw new LoadError('The expected sha256 must be 64 hexadecimal digits.')
  }
}

function expectedLength(body: BodyExpectation | undefined): number {
  const exact = body?.bytes === undefined ? undefined : Buffer.byteLength(body.bytes, 'base64')
  if (exact !== undefined && body?.length !== undefined && exact !== body.length) {
    throw new LoadError(`The expected body has ${exact} bytes, but its length is given as ${body.length}.`)
  }
  return exact ?? body?.length ?? -1
}

function contentPredicate(expected: BodyExpectation | undefined): ((body: Buffer) => boolean) | undefined {
  if (expected === undefined) return undefined
  const bytes = expected.bytes === undefined ? undefined : Buffer.from(expected.bytes, 'base64')
  const sha256 = expected.sha256?.toLowerCase()
  const includes = (expected.includes ?? []).map((text) => Buffer.from(text))
  return (body) =>
    (bytes === undefined || body.equals(bytes)) &&
    (sha256 === undefined || createHash('sha256').update(body).digest('hex') === sha256) &&
    includes.every((part) => body.includes(part))
}
