/** How many places that were left may stand before the first item. */
const MOST_LEFT = 1024

/** First in, first out; a long queue costs no more than a short one, which is not so for the `shift` of an array. */
export class Queue<T> {
  #items: T[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  /** The item that has waited longest. */
  peek(): T | undefined {
    return this.#items[this.#first]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#first++]
    // A copy of no more items than were taken since the last one.
    if (this.#first >= MOST_LEFT && 2 * this.#first >= this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
