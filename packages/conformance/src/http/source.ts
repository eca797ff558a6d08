/** Why a response could not be read. */
export type Failure = 'closed' | 'reset' | 'timeout' | 'malformed' | 'refused' | 'aborted'

/** There is no complete response; the message says what came instead. */
export class NoResponse extends Error {
  override name = 'NoResponse'
  readonly failure: Failure

  constructor(failure: Failure, message: string) {
    super(message)
    this.failure = failure
  }
}

/** Bytes that arrive piece by piece, to be read as lines and blocks. */
export class ByteSource {
  #buffered: Buffer = Buffer.alloc(0)
  #end: NoResponse | undefined
  #wake: () => void = () => {}

  /** How many bytes have arrived and were not read. */
  get length(): number {
    return this.#buffered.length
  }

  /** What has arrived and was not read. */
  peek(): Buffer {
    return this.#buffered
  }

  push(bytes: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes])
    this.#wake()
  }

  /** Nothing more will come. The first reason stands. */
  end(reason: NoResponse): void {
    this.#end ??= reason
    this.#wake()
  }

  /**
   * Reads up to and including LF, which is left out together with the CR before it.
   * @throws {NoResponse} where the line ends in a bare LF (RFC 9112 section 2.2) or never ends
   */
  async line(): Promise<string> {
    while (!this.#buffered.includes(10)) await this.#more()
    const line = this.#read(this.#buffered.indexOf(10) + 1).toString('latin1')
    if (!line.endsWith('\r\n'))
      throw new NoResponse('malformed', `a line that ends in LF without CR: ${JSON.stringify(line)}`)
    return line.slice(0, -2)
  }

  /** Reads so many bytes. */
  async take(count: number): Promise<Buffer> {
    while (this.#buffered.length < count) await this.#more()
    return this.#read(count)
  }

  /** Reads what there is, at least one byte and at most so many; undefined when the peer has closed. */
  async some(most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
    while (this.#buffered.length === 0) {
      if (this.#end?.failure === 'closed') return undefined
      await this.#more()
    }
    return this.#read(Math.min(most, this.#buffered.length))
  }

  #read(count: number): Buffer {
    const bytes = this.#buffered.subarray(0, count)
    this.#buffered = this.#buffered.subarray(count)
    return bytes
  }

  async #more(): Promise<void> {
    if (this.#end !== undefined) throw this.#end
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    return promise
  }
}
