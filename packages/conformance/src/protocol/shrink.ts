/** So many tries at most. */
const TRIES = 200

/**
 * Makes an input that fails shorter, as long as it still fails: pieces are left out, large ones first.
 * @param fails whether this input fails; asked at most 200 times
 */
export async function shrink(input: string, fails: (shorter: string) => Promise<boolean>): Promise<string> {
  let shortest = input
  let tries = 0
  for (let piece = Math.ceil(input.length / 2); piece > 0; piece = Math.floor(piece / 2)) {
    for (let at = 0; at < shortest.length && tries < TRIES; tries += 1) {
      const shorter = shortest.slice(0, at) + shortest.slice(at + piece)
      if (await fails(shorter)) shortest = shorter
      else at += piece
    }
  }
  return shortest
}
