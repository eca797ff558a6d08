const EMPTY = Buffer.alloc(0)

/**
 * Puts a stream of records together, up to a limit. One record, the usual case, is kept as it is; more are copied into a buffer
 * that doubles, so that a stream of tiny records takes no more memory than its bytes.
 */
export class StreamBuffer {
  readonly #limit: number
  #bytes: Buffer = EMPTY
  #length = 0
  #overflowed = false
  #ended = false

  /** @param limit bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the record without content that ends the stream has come. */
  get ended(): boolean {
    return this.#ended
  }

  /** Whether there was more than the limit. Then nothing is kept. */
  get overflowed(): boolean {
    return this.#overflowed
  }

  get bytes(): Buffer {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  /** Takes the content of the stream's next record. What comes after the end is ignored. */
  push(content: Buffer): void {
    if (content.length === 0) this.#ended = true
    if (this.#ended || this.#overflowed) return
    if (this.#length + content.length > this.#limit) this.#overflow()
    else this.#append(content)
  }

  #append(content: Buffer): void {
    const length = this.#length + content.length
    if (this.#length === 0) {
      this.#bytes = content
    } else {
      if (length > this.#bytes.length) this.#grow(length)
      content.copy(this.#bytes, this.#length)
    }
    this.#length = length
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(length, 2 * this.#bytes.length)))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  #overflow(): void {
    this.#overflowed = true
    this.#bytes = EMPTY
    this.#length = 0
  }
}
