const FIRST_CAPACITY = 16

/** First in, first out, in a growing ring buffer: a long queue costs no more than a short one. */
export class Queue<T> {
  #items: (T | undefined)[] = new Array(FIRST_CAPACITY).fill(undefined)
  #first = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The item that has waited longest. */
  peek(): T | undefined {
    return this.#length === 0 ? undefined : this.#items[this.#first]
  }

  push(item: T): void {
    if (this.#length === this.#items.length) this.#grow()
    this.#items[(this.#first + this.#length++) & (this.#items.length - 1)] = item
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first] = undefined
    this.#first = (this.#first + 1) & (this.#items.length - 1)
    this.#length--
    return item
  }

  #grow(): void {
    const { length } = this.#items
    const items: (T | undefined)[] = new Array(2 * length).fill(undefined)
    for (let n = 0; n < this.#length; n++) items[n] = this.#items[(this.#first + n) & (length - 1)]
    this.#items = items
    this.#first = 0
  }
}
