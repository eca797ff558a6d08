export { parseDuration } from './duration.ts'
export { type BodyExpectation, type Expectation, exactly } from './expectation.ts'
export { type GeneratorOptions, LoadGenerator, spawnLoad, startGenerator } from './generator.ts'
export { countAbove, curveOf, mergeHistograms, percentiles } from './histogram.ts'
export { LoadError } from './load-error.ts'
export type { LoadOptions, LoadPlan } from './options.ts'
export type { Progress } from './progress.ts'
export { type Random, seeded } from './random.ts'
export {
  ERROR_KINDS,
  type ErrorCounts,
  type ErrorKind,
  type Latency,
  type LoadResult,
  type OpenLoopRates,
  type SelfReport,
  type SeriesPoint,
  sumErrors,
  type ThreadReport,
} from './result.ts'
export { runLoad } from './run-load.ts'
export type { Reach, Target } from './target.ts'
