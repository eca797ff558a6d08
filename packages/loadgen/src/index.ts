export {
  type GeneratorLoad,
  type GeneratorOptions,
  LoadGenerator,
  startGenerator,
} from './engine/generator.ts'
export { coresFor, GeneratorTeam, startTeam } from './engine/generator-team.ts'
export { LoadError } from './engine/load-error.ts'
export type { LoadOptions, LoadPhase, LoadPlan } from './engine/options.ts'
export { runLoad } from './engine/run-load.ts'
export { type BodyExpectation, type Expectation, exactly } from './http/expectation.ts'
export { resolveTarget, type Target } from './http/target.ts'
export { countsOf, mergeHistograms, percentiles } from './report/histogram.ts'
export {
  ERROR_KINDS,
  type ErrorCounts,
  type LoadResult,
  sumErrors,
} from './report/result.ts'
