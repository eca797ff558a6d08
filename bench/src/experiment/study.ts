import { type Experiment, isProbe, type Race } from '../result/experiment.ts'
import type { Settings } from '../result/settings.ts'

export type StudyProfile = 'quick' | 'full'

type StudyEffort = Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop' | 'maxTimeMs'>

/** Launches and passes. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
export const STUDY_PROFILES: Readonly<Record<StudyProfile, StudyEffort>> = {
  quick: { heats: 3, slices: 6, sliceMs: 50, openLoop: { minMs: 600, maxMs: 1500 }, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 20, sliceMs: 50, openLoop: { minMs: 1000, maxMs: 3000 }, maxTimeMs: null },
}

/** What is measured of a study: the source's own commands that no claim is about only with `--as-published`, which runs nothing else. */
export function chooseRaces<Kind extends Experiment>(study: Kind, asPublished: boolean): Kind {
  const decisive = new Set(study.claims.flatMap(({ race, against = race }) => [race, against]))
  const chosen = ([name, race]: [string, Race]) => {
    const isTool = isProbe(race) && race.tool !== undefined
    return asPublished ? isTool : !isTool || decisive.has(name)
  }
  const races = Object.fromEntries(Object.entries(study.races).filter(chosen))
  const has = ({ race, against = race }: { race: string; against?: string }) =>
    races[race] !== undefined && races[against] !== undefined
  const { claims, steps = [] } = study
  return { ...study, races, claims: claims.filter(has), steps: steps.filter(has) }
}
