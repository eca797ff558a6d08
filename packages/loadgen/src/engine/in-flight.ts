/** The number of fields per request. */
const FIELDS = 4

/** The requests of one connection that wait for their responses, in the order in which they were sent. Nothing is allocated per request. */
export class InFlight {
  count = 0
  #first = 0
  readonly #fields: Float64Array

  /** @param capacity the most requests at a time */
  constructor(capacity: number) {
    this.#fields = new Float64Array(FIELDS * capacity)
  }

  /** When the oldest request was due. */
  get intended(): number {
    return this.#fields[this.#first] as number
  }

  /** When the oldest request was sent. */
  get sent(): number {
    return this.#fields[this.#first + 1] as number
  }

  /** The path of the oldest request. */
  get path(): number {
    return this.#fields[this.#first + 2] as number
  }

  /** Whether to compare the content of the response to the oldest request. */
  get sampled(): boolean {
    return this.#fields[this.#first + 3] === 1
  }

  /** There must be room for it. */
  push(intended: number, sent: number, path: number, sampled: boolean): void {
    const fields = this.#fields
    let at = this.#first + FIELDS * this.count++
    if (at >= fields.length) at -= fields.length
    fields[at] = intended
    fields[at + 1] = sent
    fields[at + 2] = path
    fields[at + 3] = sampled ? 1 : 0
  }

  /** Removes the oldest request. */
  shift(): void {
    this.#first += FIELDS
    if (this.#first === this.#fields.length) this.#first = 0
    this.count--
  }

  /** When each request was due, the oldest first. */
  intendedTimes(): number[] {
    return Array.from({ length: this.count }, (_, n) => {
      const at = (this.#first + FIELDS * n) % this.#fields.length
      return this.#fields[at] as number
    })
  }
}
