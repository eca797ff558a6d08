/** Numbers kept of each request. */
const FIELDS = 4

/** The requests of one connection that wait for their answers, in the order in which they were sent. Nothing is allocated per request. */
export class InFlight {
  count = 0
  #first = 0
  readonly #fields: Float64Array

  /** @param capacity the most requests at a time */
  constructor(capacity: number) {
    this.#fields = new Float64Array(FIELDS * capacity)
  }

  /** When the oldest was to be sent. */
  get intended(): number {
    return this.#fields[this.#first] as number
  }

  /** When the oldest was sent. */
  get sent(): number {
    return this.#fields[this.#first + 1] as number
  }

  /** Which path the oldest asks for. */
  get path(): number {
    return this.#fields[this.#first + 2] as number
  }

  /** Whether the content of the oldest one's answer is to be compared. */
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

  /** Forgets the oldest. */
  shift(): void {
    this.#first += FIELDS
    if (this.#first === this.#fields.length) this.#first = 0
    this.count--
  }

  /** When each was to be sent, the oldest first. */
  intendedTimes(): number[] {
    return Array.from({ length: this.count }, (_, n) => {
      const at = (this.#first + FIELDS * n) % this.#fields.length
      return this.#fields[at] as number
    })
  }
}
