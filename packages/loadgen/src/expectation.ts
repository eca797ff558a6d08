import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Random } from '@startgrid/stats/random.ts'
import type { ErrorKind } from './result.ts'
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
  /** Of the body, as `content-encoding` says it: the texts and bytes are those of the decoded one. */
  encoding?: string
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

/** A body as it was before it was compressed; as it is if that cannot be. */
export function decoded(body: Buffer, encoding: string | undefined): Buffer {
  try {
    return DECODERS[encoding?.toLowerCase() ?? '']?.(body) ?? body
  } catch {
    return body
  }
}

/** The expectation of exactly this body. */
export function exactly(body: string | Uint8Array): BodyExpectation {
  return { bytes: Buffer.from(body).toString('base64') }
}

/** Compares responses with an `Expectation`, and decides which ones have their content compared. */
export class Checker {
  readonly status: number
  /** By path; empty if any body will do. */
  readonly #bodies: readonly ReturnType<typeof comparison>[]
  readonly #every: number
  #untilCheck = 0

  readonly #random: Random

  /** @param paths how many paths are asked for */
  constructor(
    { status = 200, body = [], checkEvery = 100 }: Expectation,
    paths: number,
    random: Random = Math.random,
  ) {
    this.#random = random
    this.status = status
    const bodies = 'map' in body ? body : new Array<BodyExpectation>(paths).fill(body)
    this.#bodies = bodies.map(comparison)
    this.#every = checkEvery
  }

  /**
   * Whether to compare the content of the next response. The distance between two samples is random, with `checkEvery` as its mean. With
   * a fixed distance, a periodic defect could always fall between samples.
   */
  sample(): boolean {
    if (this.#bodies.length === 0 || this.#untilCheck-- > 0) return false
    this.#untilCheck = Math.floor(this.#random() * (2 * this.#every - 1))
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
    return this.#bodies[path]?.(bodyLength, body) === false ? 'body' : undefined
  }
}

/** Whether a body is right: its length, and its content if that is sampled. */
function comparison({ bytes, length, includes = [], encoding }: BodyExpectation) {
  const exact = bytes === undefined ? undefined : Buffer.from(bytes, 'base64')
  const parts = includes.map((text) => Buffer.from(text))
  const hasContent = (sent: Buffer) => {
    const body = decoded(sent, encoding)
    return exact?.equals(body) !== false && parts.every((part) => body.includes(part))
  }
  const expected = encoding === undefined ? (exact?.length ?? length) : length
  return (bodyLength: number, body: Buffer | undefined): boolean =>
    bodyLength === (expected ?? bodyLength) && (body === undefined || hasContent(body))
}
