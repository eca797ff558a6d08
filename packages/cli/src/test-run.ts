/** What `pnpm test` asks of the tests, which they read from the environment. */
export interface TestRun {
  /** Everything is tried, not only samples. */
  readonly full: boolean
  /** Chooses the samples of a short run: neighbouring seeds have neighbouring samples. */
  readonly seed: number
  /** The only framework whose apps are tried; all by default. */
  readonly framework: string | undefined
}

/** Days since 1970, so that a test that is run by itself has a new sample every day. */
const today = Math.floor(Date.now() / 86_400_000)

const { STARTGRID_TEST, STARTGRID_TEST_SEED, STARTGRID_TEST_FRAMEWORK } = process.env

/** Set by scripts/test.ts. */
export const TEST_RUN: TestRun = {
  full: STARTGRID_TEST === 'full',
  seed: Number(STARTGRID_TEST_SEED ?? today),
  framework: STARTGRID_TEST_FRAMEWORK,
}

/** Whether the run tries the apps of this framework. */
export function isTested({ framework }: { framework: string }): boolean {
  return TEST_RUN.framework === undefined || framework === TEST_RUN.framework
}

/**
 * All items in a full run; in a short one so many of them, and the next ones with the next seed. As many short runs as it takes to go round
 * try every item.
 * @param name of the sample: two samples of the same list have different items
 */
export function sample<Item>(
  name: string,
  items: readonly Item[],
  count: number,
  { full, seed } = TEST_RUN,
): Item[] {
  if (full || count >= items.length) return [...items]
  const offset = [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521, 0)
  const first = seed * count + offset
  const places = new Set(Array.from({ length: count }, (_, index) => (first + index) % items.length))
  return items.filter((_, place) => places.has(place))
}
