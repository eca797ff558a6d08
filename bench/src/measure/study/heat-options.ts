import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Study } from '../../model/study.ts'
import type { StudyCell, StudySettings } from '../../model/study-result.ts'
import type { Generators } from './generators.ts'

/** What one heat of a race is to be. */
export interface StudyHeatOptions {
  study: Study
  race: string
  heat: number
  seed: number
  /** Of this race, and not skipped. */
  cells: readonly StudyCell[]
  settings: StudySettings
  /** Requests per second of the open loop, if an earlier heat has found them. */
  openRate: number | undefined
  quick: boolean
  nginx: Nginx | undefined
  generators: Generators
  signal: AbortSignal
  /** Told how much of the heat is over, 0 to 1. */
  onProgress(done: number): void
}
