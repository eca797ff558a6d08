/** The options of `pnpm test`, which tests read from the environment. */
export interface TestRun {
  /** Whether everything is tested, instead of samples. */
  readonly full: boolean
  /** Selects the samples of a short run. Neighbouring seeds give neighbouring samples. */
  readonly seed: number
  /** The only framework whose apps are tested; undefined: all. */
  readonly framework: string | undefined
}

/** Days since 1970, so that a test which is run by itself has a new sample every day. */
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
 * All items in a full run. In a short run, `count` items; the next seed gives the next ones, so consecutive seeds cover all items.
 * @param name name of the sample: two samples of the same list have different items
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

/**
 * Whether this run includes a slow proof. A full run does; of short ones, one in `runs` with consecutive seeds.
 * @param name of the proof: those with different names are due in different runs, or in the same
 * @param options proofs of one name with different turns, from 0 to `runs` - 1, are never due in the same short run
 */
export function isDue(name: string, runs: number, { turn = 0, run = TEST_RUN } = {}): boolean {
  const turns = Array.from({ length: runs }, (_, index) => index)
  return run.full || sample(name, turns, 1, run)[0] === turn
}

/**
 * For a sample inside of a proof that is due in one run of so many: those runs have neighbouring seeds. With its own seed, such a run
 * would see every `runs`th item only.
 */
export function oneRunIn(runs: number, run = TEST_RUN): TestRun {
  return { ...run, seed: Math.floor(run.seed / runs) }
}
