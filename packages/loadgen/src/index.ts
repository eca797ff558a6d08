export { parseDuration } from './duration.ts'
export { type BodyExpectation, type Expectation, exactly } from './expectation.ts'
export { type GeneratorOptions, LoadGenerator, spawnLoad, startGenerator } from './generator.ts'
export { runLoad } from './load.ts'
export { LoadError } from './load-error.ts'
export type { LoadOptions, LoadPlan, Progress } from './options.ts'
export {
  ERROR_KINDS,
  type ErrorCounts,
  type ErrorKind,
  type Latency,
  type LoadResult,
  sumErrors,
} from './result.ts'
export type { Target } from './target.ts'
