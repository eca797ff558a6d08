/** Random numbers that can be repeated: the seed is in the result, so that the same order can be run again. */
export type Random = () => number

/** mulberry32 (https://github.com/bryc/code/blob/master/jshash/PRNGs.md): 32 bits of state are enough to shuffle 42 cells. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A shuffled copy (Fisher and Yates). */
export function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const shuffled = [...items]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const item = shuffled[last] as Item
    shuffled[last] = shuffled[other] as Item
    shuffled[other] = item
  }
  return shuffled
}
