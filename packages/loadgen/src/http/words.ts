/**
 * Recognises a few words byte by byte, without case, without allocation, and resumable at any byte: a word stays a candidate
 * while each byte read so far is the one it has at that place.
 */
export class Words {
  /** Candidates before the first byte. */
  readonly all: number
  readonly #longest: number
  /** For each place and byte, the bits of the words that have this byte there. */
  readonly #table: Uint8Array
  readonly #lengths: readonly number[]

  /** @param words at most 8, lower-case ASCII; the n-th is bit `1 << n` */
  constructor(words: readonly string[]) {
    this.all = (1 << words.length) - 1
    this.#lengths = words.map((word) => word.length)
    this.#longest = Math.max(...this.#lengths)
    this.#table = new Uint8Array(this.#longest * 256)
    words.forEach((word, bit) => {
      for (let place = 0; place < word.length; place++) this.#add(place, word.charCodeAt(place), 1 << bit)
    })
  }

  #add(place: number, byte: number, bit: number): void {
    const lower = place * 256 + byte
    this.#table[lower] = (this.#table[lower] ?? 0) | bit
    const isLetter = byte >= 0x61 && byte <= 0x7a
    if (isLetter) this.#table[lower - 0x20] = (this.#table[lower - 0x20] ?? 0) | bit
  }

  /** The candidates left after `byte` was read at `place`. */
  narrow(candidates: number, place: number, byte: number): number {
    return place < this.#longest ? candidates & (this.#table[place * 256 + byte] as number) : 0
  }

  /** The bit of the word that was read, `length` bytes long, or 0. */
  read(candidates: number, length: number): number {
    if (candidates === 0) return 0
    for (let bit = 0; bit < this.#lengths.length; bit++) {
      if ((candidates & (1 << bit)) !== 0 && this.#lengths[bit] === length) return 1 << bit
    }
    return 0
  }
}
