export {
  type GeneratorChannel,
  type GeneratorOptions,
  LoadGenerator,
  spawnLoad,
  startGenerator,
} from './engine/generator.ts'
export { GeneratorTeam, startTeam, type TeamMember, VoidLoadError } from './engine/generator-team.ts'
export { LoadError } from './engine/load-error.ts'
export type { LoadOptions, LoadPhase, LoadPlan } from './engine/options.ts'
export { runLoad } from './engine/run-load.ts'
export { type BodyExpectation, type Expectation, exactly } from './http/expectation.ts'
export type { Reach, Target } from './http/target.ts'
export { countAbove, countsOf, curveOf, mergeHistograms, percentiles } from './report/histogram.ts'
export {
  ERROR_KINDS,
  type ErrorCounts,
  type LoadResult,
  sumErrors,
} from './report/result.ts'
